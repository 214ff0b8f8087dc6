// The tests of the Thrust backend on its CUDA system, without the CUDA backend. They require only nvcc and CCCL.
//   nvcc -std=c++20 -arch=native -DEIGEN_NO_CUDA -Iinclude -isystem <eigen3> thrust_tests.cu
#include "../backend/thrust_test.cpp"
#include "../loop/thrust_loop_test.cpp"
#include "main.cuh"
