// describe(host): what a host backend runs on. print(host) writes it to standard output:
//
//   Host<float>, 2 threads
//     kernels: compiled for SSE2 (this processor supports AVX-512: compile with -march=native)
//     decompositions, common update rules and activations: for AVX-512, chosen at run time
//     products, convolutions: the library's tiles for AVX-512, chosen at run time
//
// If the backend's precision is bf16, another line says whether products are computed in bfloat16.
//
// Call them from a function that is neither inline nor a template: the linker keeps one copy of an inline function or
// template, which describes the flags of one file only.
#pragma once

#include <cstdio>
#include <string>
#include <type_traits>

#include "../../core/print.hpp"
#include "../host.hpp"
#include "../precision.hpp"
#include "../products/gemm.hpp"
#include "../products/gemm_bfloat16.hpp"
#include "instruction_set.hpp"

// These macros describe the provider of matrix products and convolutions, and what else the file that uses them takes
// from algoperf::gemm (empty without it).
#if defined(ALGOPERF_EXTERN_GEMM)
#define ALGOPERF_PRODUCTS_BY ::algoperf::gemm_provider()
#define ALGOPERF_COMPONENT_KERNELS \
  ::algoperf::gemm_kernels(ALGOPERF_FINDS_KERNELS ? ALGOPERF_COMPILED_FOR : ::algoperf::InstructionSet::avx512)
#elif ALGOPERF_IN_CUDA_FILE
#define ALGOPERF_PRODUCTS_BY "products: Eigen, compiled with the program"
#define ALGOPERF_COMPONENT_KERNELS ""
#else
#define ALGOPERF_PRODUCTS_BY "products, convolutions: the library's tiles, compiled with the program"
#define ALGOPERF_COMPONENT_KERNELS ""
#endif

namespace algoperf {

// Returns lines of text, each with its newline. `kernels` is the instruction set of the SIMD loops, `products`
// describes the provider of matrix products, and `component` the kernels of algoperf::gemm; by default, these are
// those of the calling file. If the program links algoperf::gemm, each may use another instruction set. Throws Error
// as gemm_provider does.
template <class S>
static inline std::string describe(const Host<S>& host, InstructionSet kernels = ALGOPERF_COMPILED_FOR,
                                   const char* products = ALGOPERF_PRODUCTS_BY,
                                   const char* component = ALGOPERF_COMPONENT_KERNELS) {
  std::string text = std::is_same_v<S, float> ? "Host<float>, " : "Host<double>, ";
  text += std::to_string(host.threads);
  text += host.threads == 1 ? " thread\n  kernels: compiled for " : " threads\n  kernels: compiled for ";
  text += instruction_set_name(kernels);
  const InstructionSet supported = supported_instruction_set();
  if (ALGOPERF_IN_CUDA_FILE) {
    text += " (one element at a time, because this is a .cu file)";
  } else if (kernels < supported) {
    text += " (this processor supports ";
    text += instruction_set_name(supported);
    text += ": compile with -march=native)";
  }
  for (const char* const line : {component, products})
    if (*line != 0) text = text + "\n  " + line;
  if (uses_bfloat16<S>(host.precision))
    text += "\n  precision of products: bfloat16, by AVX512_BF16";
  else if (std::is_same_v<S, float> && host.precision == Precision::bf16)
    text +=
        "\n  precision of products: fp32 (bfloat16 needs AVX512_BF16: compile with -march=native or link "
        "algoperf::gemm)";
  return text + "\n";
}

template <class S>
static inline void print(const Host<S>& host, InstructionSet kernels = ALGOPERF_COMPILED_FOR,
                         const char* products = ALGOPERF_PRODUCTS_BY,
                         const char* component = ALGOPERF_COMPONENT_KERNELS) {
  std::fputs(describe(host, kernels, products, component).c_str(), stdout);
}

}  // namespace algoperf
