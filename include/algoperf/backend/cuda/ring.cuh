// CudaRing: host memory that a device reads by itself, for what a step sends it: the host goes on at once.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>

#include "check.cuh"

namespace algoperf::detail {

// Taken when first needed; it lives as long as the device.
class CudaRing {
 public:
  static constexpr std::size_t bytes = 16 << 20, most = bytes / 8;  // at a time

  // A step begins, of which all that is put may be held back until its end.
  void begin_step() { of_step_ = 0; }

  // A copy of `size` bytes, at most `most`. Where a half of the ring begins, catch_up() must wait for all that has
  // started: that has read what the half held, for a step puts no more than a quarter before settle() must start what
  // is held back.
  template <class CatchUp, class Settle>
  const void* put(const void* from, std::size_t size, const CatchUp& catch_up, const Settle& settle) {
    if (memory_ == nullptr)
      cuda_check(cudaMallocHost(reinterpret_cast<void**>(&memory_), bytes), "taking memory of the host");
    const std::size_t aligned = (size + 15) / 16 * 16;
    of_step_ += aligned;
    if (of_step_ > bytes / 4) {
      settle();
      of_step_ = aligned;
    }
    constexpr std::size_t half = bytes / 2;
    if (next_ % half + aligned > half) next_ = next_ < half ? half : 0;
    if (next_ % half == 0) catch_up();
    unsigned char* const place = memory_ + next_;
    std::memcpy(place, from, size);
    next_ = (next_ + aligned) % bytes;
    return place;
  }

 private:
  unsigned char* memory_ = nullptr;
  std::size_t next_ = 0, of_step_ = 0;
};

}  // namespace algoperf::detail
