// Matrix products by cuBLAS and decompositions by cuSOLVER, for row-major matrices. These libraries use column-major
// matrices, so a row-major A is passed as A^T.
#pragma once

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <cstddef>
#include <type_traits>

#include "../../core/half.hpp"
#include "../precision.hpp"
#include "device.cuh"
#include "each.cuh"
#include "sums.cuh"

namespace algoperf {

namespace detail {

template <class T>
inline constexpr cudaDataType_t cuda_type = std::is_same_v<T, double>     ? CUDA_R_64F
                                            : std::is_same_v<T, bfloat16> ? CUDA_R_16BF
                                                                          : CUDA_R_32F;

// C (m x n) = op(A) op(B) (+ C).
template <class T, class Out>
struct CudaGemm {
  cublasHandle_t blas;
  Precision precision;
  bool transpose_a, transpose_b;
  std::size_t m, n, k;
  const T* a;
  const T* b;
  Out* c;
  bool add;
  bool operator==(const CudaGemm&) const = default;

  void operator()(cudaStream_t) const {
    constexpr bool is_double = std::is_same_v<T, double>, is_float = std::is_same_v<T, float>;
    const Arithmetic<T> one = 1, beta = add ? 1 : 0;
    const auto operation = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const cublasComputeType_t compute = is_double                                  ? CUBLAS_COMPUTE_64F
                                        : is_float && precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                        : is_float && precision == Precision::bf16 ? CUBLAS_COMPUTE_32F_FAST_16BF
                                                                                   : CUBLAS_COMPUTE_32F;
    const auto i = [](std::size_t x) { return static_cast<int>(x); };
    cuda_check(cublasGemmEx(blas, operation(transpose_b), operation(transpose_a), i(n), i(m), i(k), &one, b,
                            cuda_type<T>, i(transpose_b ? k : n), a, cuda_type<T>, i(transpose_a ? m : k), &beta, c,
                            cuda_type<Out>, i(n), compute, CUBLAS_GEMM_DEFAULT),
               "a matrix product");
  }
};
template <class T, class Out>
void cuda_gemm(const CudaDevice& device, Precision precision, bool transpose_a, bool transpose_b, std::size_t m,
               std::size_t n, std::size_t k, const T* a, const T* b, Out* c, bool add) {
  if (m == 0 || n == 0) return;
  cuda_call(device, CudaGemm<T, Out>{device.blas(), precision, transpose_a, transpose_b, m, n, k, a, b, c, add});
}

// to = from^T for n x n matrices, converted to the type To.
template <class From, class To>
struct CudaTranspose {
  std::size_t n;
  const From* from;
  To* to;
  ALGOPERF_HD void operator()(std::size_t i) const { to[i] = static_cast<To>(from[i % n * n + i / n]); }
};
template <class To>
struct CudaConvert {
  const double* from;
  To* to;
  ALGOPERF_HD void operator()(std::size_t i) const { to[i] = static_cast<To>(from[i]); }
};

// The scratch memory of a decomposition, in double: a column-major matrix, a vector, a workspace and cuSOLVER's info
// value.
struct CudaDecomposition {
  double* matrix;
  double* vector;
  double* work;
  int* verdict;

  CudaDecomposition(CudaDevice& device, std::size_t n, int work_size) {
    const std::size_t more = static_cast<std::size_t>(work_size);
    matrix = device.scratch<double>(n * n + n + more + 1);
    vector = matrix + n * n;
    work = vector + n;
    verdict = reinterpret_cast<int*>(work + more);
  }
  bool succeeded(const CudaDevice& device) const {
    int found = 0;
    device.settle();
    cuda_check(cudaMemcpyAsync(&found, verdict, sizeof found, cudaMemcpyDeviceToHost, device.stream()),
               "reading cuSOLVER's info");
    device.synchronize();
    return found == 0;
  }
};

// Like LinearAlgebra::eigh (backend/products/linear_algebra.hpp), in double for every S.
template <class S>
bool cuda_eigh(CudaDevice& device, std::size_t n, const S* a, S* values, S* vectors) {
  constexpr const char* what = "an eigendecomposition";
  const double sum = cuda_sum(device, n * n, CudaTerm<S>{a});
  if (!(sum - sum == 0)) return false;  // infinite or NaN
  const int side = static_cast<int>(n);
  int work = 0;
  double* const none = nullptr;
  cuda_check(cusolverDnDsyevd_bufferSize(device.solver(), CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, side, none,
                                         side, none, &work),
             what);
  const CudaDecomposition d(device, n, work);
  cuda_each(device, n * n, CudaTranspose<S, double>{n, a, d.matrix});
  device.settle();
  cuda_check(cusolverDnDsyevd(device.solver(), CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, side, d.matrix, side,
                              d.vector, d.work, work, d.verdict),
             what);
  if (!d.succeeded(device)) return false;
  cuda_each(device, n, CudaConvert<S>{d.vector, values});
  cuda_each(device, n * n, CudaTranspose<double, S>{n, d.matrix, vectors});
  return true;
}

// Like LinearAlgebra::qr, in double for every S.
template <class S>
void cuda_qr(CudaDevice& device, std::size_t n, const S* a, S* q) {
  constexpr const char* what = "a QR decomposition";
  const int side = static_cast<int>(n);
  int reduce = 0, form = 0;
  double* const none = nullptr;
  cuda_check(cusolverDnDgeqrf_bufferSize(device.solver(), side, side, none, side, &reduce), what);
  cuda_check(cusolverDnDorgqr_bufferSize(device.solver(), side, side, side, none, side, none, &form), what);
  const int work = reduce > form ? reduce : form;
  const CudaDecomposition d(device, n, work);
  cuda_each(device, n * n, CudaTranspose<S, double>{n, a, d.matrix});
  device.settle();
  cuda_check(cusolverDnDgeqrf(device.solver(), side, side, d.matrix, side, d.vector, d.work, work, d.verdict), what);
  cuda_check(cusolverDnDorgqr(device.solver(), side, side, side, d.matrix, side, d.vector, d.work, work, d.verdict),
             what);
  cuda_each(device, n * n, CudaTranspose<double, S>{n, d.matrix, q});
}

}  // namespace detail
}  // namespace algoperf
