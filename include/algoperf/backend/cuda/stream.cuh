// CudaStream: a CUDA stream with its own event, library handles, workspace and scratch memory.
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
    cuda_check(cudaStreamCreate(&stream_), "creating a stream");
    cuda_check(cudaEventCreateWithFlags(&reached_, cudaEventDisableTiming), "creating an event");
    cuda_check(cublasCreate(&blas_), "initialising cuBLAS");
    cuda_check(cublasSetStream(blas_, stream_), "initialising cuBLAS");
    // Products of 16-bit elements accumulate in float throughout, as backend/cuda.cuh states. Products of floats
    // always do.
    cuda_check(cublasSetMathMode(blas_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                                  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
               "initialising cuBLAS");
    // An explicit workspace, because work captured in a graph must not allocate memory.
    workspace_ = CudaArray<unsigned char>(std::size_t{32} << 20);
    cuda_check(cublasSetWorkspace(blas_, workspace_.data(), workspace_.size()), "initialising cuBLAS");
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  cudaStream_t stream() const { return stream_; }
  cudaEvent_t reached() const { return reached_; }  // lets other streams wait for the work of this one
  cublasHandle_t blas() const { return blas_; }
  cusolverDnHandle_t solver() {
    if (solver_ == nullptr) {
      cuda_check(cusolverDnCreate(&solver_), "initialising cuSOLVER");
      cuda_check(cusolverDnSetStream(solver_, stream_), "initialising cuSOLVER");
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
  void operator()(cudaStream_t stream) const {
    cuda_check(cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
  }
};

}  // namespace algoperf::detail
