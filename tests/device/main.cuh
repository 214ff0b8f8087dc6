// The main function of device tests: runs them where there is a device.
#pragma once

#define DOCTEST_CONFIG_IMPLEMENT
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cstdio>

int main(int count, char** arguments) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no CUDA device: compiled only");
    return 77;
  }
  return doctest::Context(count, arguments).run();
}
