// CudaDevice: what one device is driven by. All work of the library on a device goes to one stream, in order.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "cuda_array.cuh"
#include "cuda_check.cuh"
#include "cuda_ring.cuh"
#include "cuda_tape.cuh"

namespace algoperf::detail {

class CudaDevice {
 public:
  // Of the current device (cudaSetDevice), made when first asked for.
  static CudaDevice& current() {
    static std::mutex mutex;
    static auto& devices = *new std::map<int, std::unique_ptr<CudaDevice>>;  // kept: at exit CUDA may be gone before
    int ordinal = 0;
    cuda_check(cudaGetDevice(&ordinal), "looking for a device");
    const std::lock_guard lock(mutex);
    std::unique_ptr<CudaDevice>& device = devices[ordinal];
    if (device == nullptr) device.reset(new CudaDevice(ordinal));
    return *device;
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  cudaStream_t stream() const { return stream_; }
  cublasHandle_t blas() const { return blas_; }
  cusolverDnHandle_t solver() {
    if (solver_ == nullptr) {
      cuda_check(cusolverDnCreate(&solver_), "starting cuSOLVER");
      cuda_check(cusolverDnSetStream(solver_, stream_), "starting cuSOLVER");
    }
    return solver_;
  }
  // Blocks enough to fill the device, but no more than `wanted`.
  unsigned blocks(std::size_t wanted) const {
    const std::size_t most = 32u * static_cast<unsigned>(processors_);
    return static_cast<unsigned>(wanted < most ? wanted : most);
  }
  // Memory for one call's intermediate results, valid until the next call that asks: grown when first needed and kept.
  template <class T>
  T* scratch(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (scratch_.size() < bytes) {
      settle();
      scratch_ = CudaArray<unsigned char>(bytes);
    }
    return reinterpret_cast<T*>(scratch_.data());
  }
  // Starts an operation on the stream, or leaves it to the tape of the step in hand.
  void start(const CudaOperation& operation) const {
    if (tape != nullptr)
      tape->take(operation, stream_);
    else
      operation.start(stream_);
  }
  // Starts what was left to a tape: for what cannot be part of a graph.
  void settle() const {
    if (tape != nullptr) tape->give_up(stream_);
  }
  void synchronize() const {
    settle();
    cuda_check(cudaStreamSynchronize(stream_), "waiting for the device");
  }
  CudaRing& ring() { return ring_; }

  CudaTape* tape = nullptr;              // of the step in hand
  const std::int64_t* unless = nullptr;  // passes do nothing while this, in device memory, is not 0

 private:
  explicit CudaDevice(int ordinal) {
    cuda_check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, ordinal), "looking at the device");
    cuda_check(cudaStreamCreate(&stream_), "making a stream");
    cuda_check(cublasCreate(&blas_), "starting cuBLAS");
    cuda_check(cublasSetStream(blas_, stream_), "starting cuBLAS");
    // Memory of our own, for a graph must not take any.
    workspace_ = CudaArray<unsigned char>(std::size_t{32} << 20);
    cuda_check(cublasSetWorkspace(blas_, workspace_.data(), workspace_.size()), "starting cuBLAS");
  }

  int processors_ = 1;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  cusolverDnHandle_t solver_ = nullptr;
  CudaArray<unsigned char> scratch_, workspace_;
  CudaRing ring_;
};

// Starts kernel(arguments...) on the device's stream.
template <class... Parameters, class... Arguments>
void cuda_launch(const CudaDevice& device, dim3 blocks, unsigned threads, void (*kernel)(Parameters...),
                 const Arguments&... arguments) {
  device.start(CudaKernel<Parameters...>(blocks, threads, kernel, arguments...));
}

// Starts call(stream), which is comparable by ==.
template <class Call>
void cuda_call(const CudaDevice& device, const Call& call) {
  device.start(CudaCall<Call>(call));
}

}  // namespace algoperf::detail
