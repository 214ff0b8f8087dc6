#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "check.cuh"

namespace algoperf {

// Zeroed memory of the current device. Making, copying and destroying one waits for the device; not for a step that
// still goes onto a tape (cuda/tape.cuh), which makes none.
template <class T>
class CudaArray {
  static_assert(std::is_trivially_copyable_v<T>, "a CudaArray holds plain values");

 public:
  CudaArray() = default;
  explicit CudaArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    allocate();
    detail::cuda_check(cudaMemset(data_, 0, bytes()), "filling memory");
    detail::cuda_check(cudaDeviceSynchronize(), "filling memory");
  }
  CudaArray(const CudaArray& other) : size_(other.size_) {
    if (size_ == 0) return;
    allocate();
    detail::cuda_check(cudaDeviceSynchronize(), "copying memory");
    detail::cuda_check(cudaMemcpy(data_, other.data_, bytes(), cudaMemcpyDeviceToDevice), "copying memory");
    detail::cuda_check(cudaDeviceSynchronize(), "copying memory");
  }
  CudaArray(CudaArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  CudaArray& operator=(CudaArray other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~CudaArray() {
    if (data_ != nullptr) cudaFree(data_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }
  void allocate() {
    if (cudaMalloc(&data_, bytes()) == cudaSuccess) return;
    const cudaError_t error = cudaGetLastError();
    std::size_t free = 0, total = 0;
    if (error != cudaErrorMemoryAllocation || cudaMemGetInfo(&free, &total) != cudaSuccess)
      detail::cuda_check(error, "taking memory");
    fail_as<OutOfMemory>("cuda: the device is out of memory: ", bytes() >> 20, " MiB asked, ", free >> 20, " of ",
                         total >> 20, " MiB free");
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace algoperf
