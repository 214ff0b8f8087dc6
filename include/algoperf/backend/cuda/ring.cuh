// CudaRing: a ring buffer in pinned host memory for the data that a step sends to the device. The device reads it
// directly, so the host does not wait.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>

#include "check.cuh"

namespace algoperf::detail {

// The memory is allocated on first use and never freed.
class CudaRing {
 public:
  static constexpr std::size_t bytes = 16 << 20, most = bytes / 8;  // most: the limit per call of put()

  // Call at the beginning of a step. All reads of the step's data may be deferred until its end.
  void begin_step() { of_step_ = 0; }

  // Copies `size` bytes, at most `most`, into the ring and returns the address of the copy. put() calls settle(),
  // which must launch all deferred operations, before a step uses more than a quarter of the ring. It calls
  // catch_up(), which must wait for all launched operations, whenever it begins a half of the ring. By then
  // everything that reads the old contents of that half has been launched, so the half can be overwritten.
  template <class CatchUp, class Settle>
  const void* put(const void* from, std::size_t size, const CatchUp& catch_up, const Settle& settle) {
    if (memory_ == nullptr)
      cuda_check(cudaMallocHost(reinterpret_cast<void**>(&memory_), bytes), "allocating pinned memory");
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
