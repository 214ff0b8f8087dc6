// The library algoperf::gemm if ALGOPERF_GEMM=onednn: matrix products of float by oneDNN and of double, which oneDNN
// does not support, by the library's own tiles. oneDNN runs on one thread per call, because the backend runs its own
// threads.
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <string>

#include "algoperf/backend/products/gemm.hpp"
#include "algoperf/backend/products/gemm_tiles.hpp"
#include "algoperf/core/error.hpp"
#include "instances.hpp"
#include "onednn_thread.hpp"

namespace algoperf {
namespace {

void multiply(char transpose_a, char transpose_b, std::size_t m, std::size_t n, std::size_t k, const float* a,
              std::size_t lda, const float* b, std::size_t ldb, float* c, std::size_t ldc, bool accumulate) {
  if (k == 0) {  // oneDNN would leave C as it is
    for (std::size_t row = 0; !accumulate && row < m; ++row) std::fill_n(c + row * ldc, n, 0.0f);
    return;
  }
  const OneOpenMpThread one;
  const auto i = [](std::size_t x) { return static_cast<dnnl_dim_t>(x); };
  const dnnl_status_t status = dnnl_sgemm(transpose_a, transpose_b, i(m), i(n), i(k), 1, a, i(lda), b, i(ldb),
                                          accumulate ? 1.0f : 0.0f, c, i(ldc));
  require(status == dnnl_success, "oneDNN: a matrix product ", m, " x ", k, " by ", k, " x ", n, " failed: status ",
          static_cast<int>(status));
}

}  // namespace

const char* gemm_provider() {
  static const std::string text = "products, convolutions: oneDNN " + std::to_string(dnnl_version()->major) + "." +
                                  std::to_string(dnnl_version()->minor) + " for float, the library's tiles for double";
  return text.c_str();
}

template <>
void gemm_nn<float>(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda, const float* b,
                    std::size_t ldb, float* c, std::size_t ldc, bool accumulate) {
  multiply('N', 'N', m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}
template <>
void gemm_nt<float>(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda, const float* b,
                    std::size_t ldb, float* c, std::size_t ldc, bool accumulate) {
  multiply('N', 'T', m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}
template <>
void gemm_nt_bias<float>(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda, const float* b,
                         std::size_t ldb, const float* bias, float* c, std::size_t ldc) {
  detail::add_product_to_bias(m, n, k, a, lda, b, ldb, bias, c, ldc);
}
template <>
void gemm_tn<float>(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda, const float* b,
                    std::size_t ldb, float* c, std::size_t ldc, bool accumulate) {
  multiply('T', 'N', m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

}  // namespace algoperf

ALGOPERF_INSTANTIATE_GEMMS(double);
ALGOPERF_COLUMN_STEP(0, 32)
