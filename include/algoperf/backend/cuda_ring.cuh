// CudaRing: host memory that a device reads by itself, for what a step sends it: the host goes on at once.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>

#include "cuda_check.cuh"

namespace algoperf::detail {

// Taken when first needed; it lives as long as the device.
class CudaRing {
 public:
  static constexpr std::size_t bytes = 16 << 20, most = bytes / 8;  // at a time

  // A copy of `size` bytes, at most `most`. Where the ring begins anew, wait() must let the device catch up.
  template <class Wait>
  const void* put(const void* from, std::size_t size, const Wait& wait) {
    if (memory_ == nullptr)
      cuda_check(cudaMallocHost(reinterpret_cast<void**>(&memory_), bytes), "taking memory of the host");
    const std::size_t aligned = (size + 15) / 16 * 16;
    if (next_ + aligned > bytes) {
      wait();
      next_ = 0;
    }
    unsigned char* const place = memory_ + next_;
    std::memcpy(place, from, size);
    next_ += aligned;
    return place;
  }

 private:
  unsigned char* memory_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace algoperf::detail
