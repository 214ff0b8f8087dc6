// Checks that turn status codes of CUDA and its libraries into exceptions.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <string>

#include "../../core/error.hpp"

namespace algoperf::detail {

// Returns advice on an error, or "" if there is none.
inline std::string cuda_hint(cudaError_t error) {
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
    return ": no CUDA device was found, or its driver is too old for this program's CUDA runtime";
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion) {
    int device = 0;
    cudaDeviceProp facts{};
    if (cudaGetDevice(&device) != cudaSuccess || cudaGetDeviceProperties(&facts, device) != cudaSuccess) return "";
    const std::string version = std::to_string(facts.major) + std::to_string(facts.minor);
    return std::string(": the program was not compiled for ") + facts.name + ", compile it with -arch=sm_" + version;
  }
  return "";
}

// Throws Error unless the status is success. `what` names the operation.
inline void cuda_check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that it is reported once
  fail("cuda: ", what, " failed: ", cudaGetErrorString(error), cuda_hint(error));
}
inline void cuda_check(cublasStatus_t status, const char* what) {
  require(status == CUBLAS_STATUS_SUCCESS, "cuda: ", what, " failed: cuBLAS status ", cublasGetStatusString(status));
}
inline void cuda_check(cusolverStatus_t status, const char* what) {
  require(status == CUSOLVER_STATUS_SUCCESS, "cuda: ", what, " failed: cuSOLVER status ", static_cast<int>(status));
}

}  // namespace algoperf::detail
