// Of cuBLAS, the product that backend/cuda_linear_algebra.cuh takes, on the host.
#pragma once

#include <cstddef>

#include "cuda_runtime.h"

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_32F,
  CUBLAS_COMPUTE_64F,
  CUBLAS_COMPUTE_32F_FAST_TF32,
  CUBLAS_COMPUTE_32F_FAST_16BF
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER };
enum cudaDataType_t { CUDA_R_32F, CUDA_R_64F };
struct cublasContext {
  cudaStream_t stream = nullptr;
};
using cublasHandle_t = cublasContext*;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  return *handle = new cublasContext, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return handle->stream = stream, CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }
inline const char* cublasGetStatusString(cublasStatus_t) { return "success"; }

namespace emulated_cuda {

template <class S>
void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, S alpha, const S* a, int lda, const S* b, int ldb,
          S beta, S* c, int ldc) {
  const auto at = [](const S* x, int ld, int row, int col) {
    return x[static_cast<std::size_t>(col) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(row)];
  };
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      S total = 0;
      for (int l = 0; l < k; ++l)
        total +=
            (transpose_a ? at(a, lda, l, i) : at(a, lda, i, l)) * (transpose_b ? at(b, ldb, j, l) : at(b, ldb, l, j));
      S& to = c[static_cast<std::size_t>(j) * static_cast<std::size_t>(ldc) + static_cast<std::size_t>(i)];
      to = beta == S(0) ? alpha * total : alpha * total + beta * to;
    }
}

}  // namespace emulated_cuda

inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n,
                                   int k, const void* alpha, const void* a, cudaDataType_t type, int lda, const void* b,
                                   cudaDataType_t, int ldb, const void* beta, void* c, cudaDataType_t, int ldc,
                                   cublasComputeType_t, cublasGemmAlgo_t) {
  const auto run = [=]<class S>(S one) {
    const S scale = one * *static_cast<const S*>(alpha), kept = *static_cast<const S*>(beta);
    emulated_cuda::start_call(handle->stream, [=] {
      emulated_cuda::gemm<S>(a_op == CUBLAS_OP_T, b_op == CUBLAS_OP_T, m, n, k, scale, static_cast<const S*>(a), lda,
                             static_cast<const S*>(b), ldb, kept, static_cast<S*>(c), ldc);
    });
  };
  type == CUDA_R_64F ? run(1.0) : run(1.0f);
  return CUBLAS_STATUS_SUCCESS;
}
