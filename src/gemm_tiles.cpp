// The library algoperf::gemm by default: the products of gemm_tiles.hpp. With ALGOPERF_GEMM_DISPATCH, products and
// convolutions are compiled for several instruction sets (tile_table.cpp), and the best that the processor supports is
// chosen at run time. The environment variable ALGOPERF_INSTRUCTION_SET (sse2, avx2, avx512) chooses another.
#include <string>

#include "algoperf/backend/host/instruction_set.hpp"
#include "algoperf/backend/products/gemm.hpp"
#include "instances.hpp"

#if defined(ALGOPERF_GEMM_DISPATCH)

#include <cstdlib>
#include <type_traits>

#include "algoperf/backend/products/convolution.hpp"
#include "algoperf/core/error.hpp"
#include "tile_tables.hpp"

namespace algoperf {
namespace {

// The best instruction set for this processor, or that of ALGOPERF_INSTRUCTION_SET unless it is empty.
InstructionSet choose_instruction_set() {
  const char* const variable = std::getenv("ALGOPERF_INSTRUCTION_SET");
  const std::string wanted = variable == nullptr ? "" : variable;
  const InstructionSet supported = supported_instruction_set();
  if (wanted.empty()) return supported == InstructionSet::avx ? InstructionSet::sse2 : supported;
  require(wanted == "sse2" || wanted == "avx2" || wanted == "avx512",
          "the environment variable ALGOPERF_INSTRUCTION_SET is ", wanted, ", expected sse2, avx2 or avx512");
  const InstructionSet named = wanted == "sse2"   ? InstructionSet::sse2
                               : wanted == "avx2" ? InstructionSet::avx2
                                                  : InstructionSet::avx512;
  require(named <= supported, "the environment variable ALGOPERF_INSTRUCTION_SET is ", wanted,
          ", which this processor does not support");
  return named;
}
InstructionSet instruction_set() {
  static const InstructionSet chosen = choose_instruction_set();
  return chosen;
}

template <class S>
const products::Functions<S>& functions() {
  static const products::TileTable& table = instruction_set() == InstructionSet::avx512 ? products::avx512
                                            : instruction_set() == InstructionSet::avx2 ? products::avx2
                                                                                        : products::sse2;
  if constexpr (std::is_same_v<S, float>)
    return table.of_float;
  else
    return table.of_double;
}

}  // namespace

const char* gemm_provider() {
  switch (instruction_set()) {
    case InstructionSet::avx512:
      return "products, convolutions: the library's tiles for AVX-512, chosen at run time";
    case InstructionSet::avx2:
      return "products, convolutions: the library's tiles for AVX2, chosen at run time";
    default:
      return "products, convolutions: the library's tiles for SSE2, chosen at run time";
  }
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
void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  functions<S>().tn(m, n, k, a, lda, b, ldb, c, ldc, accumulate);
}

template <class S>
void convolve(const Convolution& c, const S* x, const S* weight, const S* bias, S* y) {
  functions<S>().convolve(c, x, weight, bias, y);
}
template <class S>
void convolve_back_to_input(const Convolution& c, const S* dy, const S* weight, S* dx) {
  functions<S>().convolve_back_to_input(c, dy, weight, dx);
}
template <class S>
void convolve_back_to_weight(const Convolution& c, const S* x, const S* dy, S* d_weight) {
  functions<S>().convolve_back_to_weight(c, x, dy, d_weight);
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
ALGOPERF_DEPENDS_ON_SIZE(false, false)
