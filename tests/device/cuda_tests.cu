// The tests of the CUDA backend, compiled by nvcc. The program runs them if there is a device.
//   nvcc -std=c++20 -arch=native -DEIGEN_NO_CUDA -Iinclude -isystem <eigen3> cuda_tests.cu -lcublas -lcusolver
#include "../backend/cuda_test.cpp"
#include "../contracts/cuda_contract_test.cpp"
#include "../loop/cuda_loop_test.cpp"
#include "main.cuh"
