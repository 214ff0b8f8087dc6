// A host implementation of the cuBLAS matrix product that backend/cuda/linear_algebra.cuh calls.
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
enum cudaDataType_t { CUDA_R_32F, CUDA_R_64F, CUDA_R_16BF };
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
enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16 };
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }
inline const char* cublasGetStatusString(cublasStatus_t) { return "success"; }

namespace emulated_cuda {

// bfloat16: the upper half of a float.
struct Bfloat16 {
  unsigned short bits;
  operator float() const {
    const unsigned word = unsigned{bits} << 16;
    float x;
    memcpy(&x, &word, sizeof x);
    return x;
  }
  explicit Bfloat16(float x) {
    unsigned word;
    memcpy(&word, &x, sizeof x);
    bits = static_cast<unsigned short>(x != x ? (word >> 16) | 0x40u : (word + 0x7FFFu + ((word >> 16) & 1u)) >> 16);
  }
};

inline cublasComputeType_t computed_in = CUBLAS_COMPUTE_32F;  // compute type of the last product

// S is the compute type, T the type of the operands, U the type of the product.
template <class S, class T, class U>
void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, S alpha, const T* a, int lda, const T* b, int ldb,
          S beta, U* c, int ldc) {
  const auto at = [](const T* x, int ld, int row, int col) {
    return S(x[static_cast<std::size_t>(col) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(row)]);
  };
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      S total = 0;
      for (int l = 0; l < k; ++l)
        total +=
            (transpose_a ? at(a, lda, l, i) : at(a, lda, i, l)) * (transpose_b ? at(b, ldb, j, l) : at(b, ldb, l, j));
      U& to = c[static_cast<std::size_t>(j) * static_cast<std::size_t>(ldc) + static_cast<std::size_t>(i)];
      to = U(beta == S(0) ? alpha * total : alpha * total + beta * to);
    }
}

}  // namespace emulated_cuda

inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t a_op, cublasOperation_t b_op, int m, int n,
                                   int k, const void* alpha, const void* a, cudaDataType_t type, int lda, const void* b,
                                   cudaDataType_t, int ldb, const void* beta, void* c, cudaDataType_t c_type, int ldc,
                                   cublasComputeType_t compute, cublasGemmAlgo_t) {
  emulated_cuda::computed_in = compute;
  const auto run = [=]<class S, class T, class U>(S, const T*, U*) {
    const S scale = *static_cast<const S*>(alpha), kept = *static_cast<const S*>(beta);
    emulated_cuda::start_call(handle->stream, [=] {
      emulated_cuda::gemm<S>(a_op == CUBLAS_OP_T, b_op == CUBLAS_OP_T, m, n, k, scale, static_cast<const T*>(a), lda,
                             static_cast<const T*>(b), ldb, kept, static_cast<U*>(c), ldc);
    });
  };
  using emulated_cuda::Bfloat16;
  if (type == CUDA_R_64F)
    run(0.0, static_cast<double*>(nullptr), static_cast<double*>(nullptr));
  else if (type == CUDA_R_32F)
    run(0.0f, static_cast<float*>(nullptr), static_cast<float*>(nullptr));
  else if (c_type == CUDA_R_16BF)
    run(0.0f, static_cast<Bfloat16*>(nullptr), static_cast<Bfloat16*>(nullptr));
  else
    run(0.0f, static_cast<Bfloat16*>(nullptr), static_cast<float*>(nullptr));
  return CUBLAS_STATUS_SUCCESS;
}
