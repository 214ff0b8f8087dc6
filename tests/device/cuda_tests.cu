// The tests of the CUDA backend, compiled by nvcc. The program runs them if there is a device.
//   nvcc -std=c++20 -arch=native -DEIGEN_NO_CUDA -Iinclude -isystem <eigen3> cuda_tests.cu -lcublas -lcusolver
// With -DALGOPERF_TEST_NCCL and -lnccl, they include those of several devices, which need two to four.
#include "../backend/cuda_test.cpp"
#include "../contracts/cuda_contract_test.cpp"
#include "../loop/cuda_loop_test.cpp"
#ifdef ALGOPERF_TEST_NCCL
#include "../loop/cuda_ranks_test.cpp"
#endif
#include "main.cuh"
