// The library algoperf::gemm by default: the products of gemm_tiles.hpp. With ALGOPERF_DISPATCH, products and
// convolutions are compiled for several instruction sets (tile_table.cpp), of which the processor's best is chosen at
// run time.
#include <string>

#include "algoperf/backend/host/instruction_set.hpp"
#include "algoperf/backend/products/gemm.hpp"
#include "instances.hpp"

#if defined(ALGOPERF_DISPATCH)

#include "algoperf/backend/products/convolution.hpp"
#include "dispatch.hpp"
#include "tile_tables.hpp"

namespace algoperf {
namespace {

template <class S>
const products::Functions<S>& functions() {
  static const products::Functions<S>& chosen = dispatched(products::sse2, products::avx2, products::avx512);
  return chosen;
}

}  // namespace

const char* gemm_provider() {
  static const std::string text = std::string("products, convolutions: the library's tiles for ") +
                                  instruction_set_name(dispatched_instruction_set()) + ", chosen at run time";
  return text.c_str();
}

template <class S>
void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  functions<S>().nn(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}
template <class S>
void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  functions<S>().nt(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}
template <class S>
void gemm_nt_bias(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
                  const S* bias, S* c, std::size_t ldc) {
  functions<S>().nt_bias(m, n, k, a, lda, b, ldb, bias, c, ldc);
}
template <class S>
void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  functions<S>().tn(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

template <class S>
void convolve(const Convolution& c, const S* x, const S* weight, const S* bias, S* y) {
  functions<S>().all_channels.forward(c, x, weight, bias, y);
}
template <class S>
void convolve_back_to_input(const Convolution& c, const S* dy, const S* weight, S* dx) {
  functions<S>().all_channels.back_to_input(c, dy, weight, dx);
}
template <class S>
void convolve_back_to_weight(const Convolution& c, const S* x, const S* dy, S* d_weight) {
  functions<S>().all_channels.back_to_weight(c, x, dy, d_weight);
}
template <class S>
void convolve(const DepthwiseConvolution& c, const S* x, const S* weight, const S* bias, S* y) {
  functions<S>().depthwise.forward(c, x, weight, bias, y);
}
template <class S>
void convolve_back_to_input(const DepthwiseConvolution& c, const S* dy, const S* weight, S* dx) {
  functions<S>().depthwise.back_to_input(c, dy, weight, dx);
}
template <class S>
void convolve_back_to_weight(const DepthwiseConvolution& c, const S* x, const S* dy, S* d_weight) {
  functions<S>().depthwise.back_to_weight(c, x, dy, d_weight);
}

}  // namespace algoperf

ALGOPERF_INSTANTIATE_CONVOLUTIONS(float);
ALGOPERF_INSTANTIATE_CONVOLUTIONS(double);

#else
#include "algoperf/backend/products/gemm_tiles.hpp"

const char* algoperf::gemm_provider() {
  static const std::string text =
      std::string("products, convolutions: the library's tiles for ") + instruction_set_name(ALGOPERF_COMPILED_FOR);
  return text.c_str();
}
#endif

ALGOPERF_INSTANTIATE_GEMMS(float);
ALGOPERF_INSTANTIATE_GEMMS(double);
ALGOPERF_COLUMN_STEP(32, 32)
