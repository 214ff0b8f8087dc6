#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../../core/element_count.hpp"
#include "../../core/error.hpp"
#include "check.cuh"

namespace algoperf {

// Zero-initialised memory of the current device. Constructing, copying and destroying an array wait for the device.
// They do not launch the operations that a replaying CudaTape (cuda/tape.cuh) holds back, so a step must not allocate
// or free arrays in replay.
template <class T>
class CudaArray {
  static_assert(std::is_trivially_copyable_v<T>, "algoperf: the T of a CudaArray<T> must be trivially copyable");

 public:
  CudaArray() = default;
  explicit CudaArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    allocate();
    detail::cuda_check(cudaMemset(data_, 0, bytes()), "clearing memory");
    detail::cuda_check(cudaDeviceSynchronize(), "clearing memory");
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
    if (size_ >= max_elements) fail_to_allocate(size_, sizeof(T));
    if (cudaMalloc(&data_, bytes()) == cudaSuccess) return;
    const cudaError_t error = cudaGetLastError();
    std::size_t free = 0, total = 0;
    if (error != cudaErrorMemoryAllocation || cudaMemGetInfo(&free, &total) != cudaSuccess)
      detail::cuda_check(error, "allocating memory");
    fail_as<OutOfMemory>("cuda: the device is out of memory: ", bytes() >> 20, " MiB requested, ", free >> 20, " of ",
                         total >> 20, " MiB free");
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace algoperf
