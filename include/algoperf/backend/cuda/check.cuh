// Errors of CUDA and its libraries, as sentences.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <string>

#include "../../core/error.hpp"

namespace algoperf::detail {

// What to do about an error, where that is known.
inline std::string cuda_hint(cudaError_t error) {
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
    return ": no CUDA device that this program's runtime can use";
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion) {
    int device = 0;
    cudaDeviceProp facts{};
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&facts, device) != cudaSuccess) return "";
    const std::string version = std::to_string(facts.major) + std::to_string(facts.minor);
    return std::string(": the program was compiled for other devices than ") + facts.name +
           ", compile it with -arch=sm_" + version;
  }
  return "";
}

// `what` was being done.
inline void cuda_check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that it is told once
  fail("cuda: ", what, " failed: ", cudaGetErrorString(error), cuda_hint(error));
}
inline void cuda_check(cublasStatus_t status, const char* what) {
  require(status == CUBLAS_STATUS_SUCCESS, "cuda: ", what, " failed: cuBLAS says ", cublasGetStatusString(status));
}
inline void cuda_check(cusolverStatus_t status, const char* what) {
  require(status == CUSOLVER_STATUS_SUCCESS, "cuda: ", what, " failed: cuSOLVER's status is ",
          static_cast<int>(status));
}

}  // namespace algoperf::detail
