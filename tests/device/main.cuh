// The main function of the device tests. Exits with status 77 if there is no device.
#pragma once

#define DOCTEST_CONFIG_IMPLEMENT
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cstdio>

int main(int count, char** arguments) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no CUDA device: the tests were compiled but not run");
    return 77;
  }
  return doctest::Context(count, arguments).run();
}
