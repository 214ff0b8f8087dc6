// The tests of the CUDA backend, compiled by nvcc for a device; where there is one, running this runs them.
//   nvcc -std=c++20 -arch=native -DEIGEN_NO_CUDA -Iinclude -isystem <eigen3> cuda_tests.cu -lcublas -lcusolver
#define DOCTEST_CONFIG_IMPLEMENT
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cstdio>

#include "../backend/cuda_test.cpp"
#include "../contracts/cuda_contract_test.cpp"
#include "../loop/cuda_loop_test.cpp"

int main(int count, char** arguments) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no CUDA device: compiled only");
    return 77;
  }
  return doctest::Context(count, arguments).run();
}
