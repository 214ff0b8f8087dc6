// CudaStream: a stream of CUDA's, and what its work needs of its own: handles of libraries, and memory for intermediate
// results.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cstddef>

#include "array.cuh"
#include "check.cuh"

namespace algoperf::detail {

class CudaStream {
 public:
  CudaStream() {
    cuda_check(cudaStreamCreate(&stream_), "making a stream");
    cuda_check(cudaEventCreateWithFlags(&reached_, cudaEventDisableTiming), "making an event");
    cuda_check(cublasCreate(&blas_), "starting cuBLAS");
    cuda_check(cublasSetStream(blas_, stream_), "starting cuBLAS");
    // A product of 16-bit numbers adds in float to its end, as backend/cuda.cuh says; floats keep their 24 bits anyway.
    cuda_check(cublasSetMathMode(blas_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                                  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
               "starting cuBLAS");
    // Memory of our own, for a graph must not take any.
    workspace_ = CudaArray<unsigned char>(std::size_t{32} << 20);
    cuda_check(cublasSetWorkspace(blas_, workspace_.data(), workspace_.size()), "starting cuBLAS");
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  cudaStream_t stream() const { return stream_; }
  cudaEvent_t reached() const { return reached_; }  // for other streams to await this one's work so far
  cublasHandle_t blas() const { return blas_; }
  cusolverDnHandle_t solver() {
    if (solver_ == nullptr) {
      cuda_check(cusolverDnCreate(&solver_), "starting cuSOLVER");
      cuda_check(cusolverDnSetStream(solver_, stream_), "starting cuSOLVER");
    }
    return solver_;
  }
  CudaArray<unsigned char> scratch;

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t reached_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  cusolverDnHandle_t solver_ = nullptr;
  CudaArray<unsigned char> workspace_;
};

// Operations between streams.
struct CudaSignal {
  cudaEvent_t event;
  bool operator==(const CudaSignal&) const = default;
  void operator()(cudaStream_t stream) const { cuda_check(cudaEventRecord(event, stream), "recording an event"); }
};
struct CudaAwait {
  cudaEvent_t event;
  bool operator==(const CudaAwait&) const = default;
  void operator()(cudaStream_t stream) const { cuda_check(cudaStreamWaitEvent(stream, event, 0), "awaiting an event"); }
};

}  // namespace algoperf::detail
