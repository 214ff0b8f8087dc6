// The library algoperf::gemm if ALGOPERF_GEMM=cblas: matrix products by any CBLAS (OpenBLAS, BLIS, MKL, ...). Use a
// sequential CBLAS or limit it to one thread (OPENBLAS_NUM_THREADS=1, ...), because the backend runs its own threads.
#include <cblas.h>

#include <type_traits>

#include "algoperf/backend/products/gemm.hpp"
#include "instances.hpp"

namespace algoperf {

const char* gemm_provider() {
  return "products, and the weight gradients of 1 x 1 convolutions: CBLAS; other convolutions: the library's tiles";
}

namespace {

template <class S>
void multiply(CBLAS_TRANSPOSE transpose_a, CBLAS_TRANSPOSE transpose_b, std::size_t m, std::size_t n, std::size_t k,
              const S* a, std::size_t lda, const S* b, std::size_t ldb, S* c, std::size_t ldc, bool accumulate) {
  const auto i = [](std::size_t x) { return static_cast<int>(x); };
  const S beta = accumulate ? S(1) : S(0);
  if constexpr (std::is_same_v<S, float>)
    cblas_sgemm(CblasRowMajor, transpose_a, transpose_b, i(m), i(n), i(k), 1, a, i(lda), b, i(ldb), beta, c, i(ldc));
  else
    cblas_dgemm(CblasRowMajor, transpose_a, transpose_b, i(m), i(n), i(k), 1, a, i(lda), b, i(ldb), beta, c, i(ldc));
}

}  // namespace

template <class S>
void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  multiply(CblasNoTrans, CblasNoTrans, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}
template <class S>
void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  multiply(CblasNoTrans, CblasTrans, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}
template <class S>
void gemm_nt_bias(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
                  const S* bias, S* c, std::size_t ldc) {
  detail::add_product_to_bias(m, n, k, a, lda, b, ldb, bias, c, ldc);
}
template <class S>
void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  multiply(CblasTrans, CblasNoTrans, m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

}  // namespace algoperf

ALGOPERF_INSTANTIATE_GEMMS(float);
ALGOPERF_INSTANTIATE_GEMMS(double);
ALGOPERF_COLUMN_STEP(0, 0)
