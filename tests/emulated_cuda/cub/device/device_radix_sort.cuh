// A host implementation of the CUB sort that backend/cuda/add_rows.cuh calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "../../cuda_runtime.h"

namespace cub {

struct DeviceRadixSort {
  template <class Key, class Value>
  static cudaError_t SortPairs(void* memory, std::size_t& bytes, const Key* keys, Key* sorted_keys, const Value* values,
                               Value* sorted_values, int n, int, int, cudaStream_t stream) {
    if (memory == nullptr) return bytes = 1, cudaSuccess;
    emulated_cuda::start_call(stream, [=] {
      std::vector<std::size_t> order(static_cast<std::size_t>(n));
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [keys](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
      for (std::size_t i = 0; i < order.size(); ++i) {
        sorted_keys[i] = keys[order[i]];
        sorted_values[i] = values[order[i]];
      }
    });
    return cudaSuccess;
  }
};

}  // namespace cub
