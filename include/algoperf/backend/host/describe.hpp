// describe(host): what a host backend runs on. print(host) writes it to standard output:
//
//   Host<float>, 2 threads
//     kernels: compiled for SSE2 (this processor supports AVX-512: compile with -march=native)
//     products, convolutions: the library's tiles for AVX-512, chosen at run time
//
// Call them from a function that is neither inline nor a template. The linker keeps one copy of such a function, which
// describes the flags of one file only.
#pragma once

#include <cstdio>
#include <string>
#include <type_traits>

#include "../../core/print.hpp"
#include "../host.hpp"
#include "../products/gemm.hpp"
#include "instruction_set.hpp"

// Describes the provider of matrix products and convolutions in the file that uses this macro.
#if defined(ALGOPERF_EXTERN_GEMM)
#define ALGOPERF_PRODUCTS_BY ::algoperf::gemm_provider()
#elif ALGOPERF_IN_CUDA_FILE
#define ALGOPERF_PRODUCTS_BY "products: Eigen, compiled with the program"
#else
#define ALGOPERF_PRODUCTS_BY "products, convolutions: the library's tiles, compiled with the program"
#endif

namespace algoperf {

// Returns lines of text, each with its newline. `kernels` is the instruction set of the SIMD loops, and `products`
// describes the provider of matrix products; by default, both are those of the calling file. If the program links
// algoperf::gemm, products may use another instruction set than kernels. Throws Error as gemm_provider does.
template <class S>
static inline std::string describe(const Host<S>& host, InstructionSet kernels = ALGOPERF_COMPILED_FOR,
                                   const char* products = ALGOPERF_PRODUCTS_BY) {
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
  text += "\n  ";
  text += products;
  text += "\n";
  return text;
}

template <class S>
static inline void print(const Host<S>& host, InstructionSet kernels = ALGOPERF_COMPILED_FOR,
                         const char* products = ALGOPERF_PRODUCTS_BY) {
  std::fputs(describe(host, kernels, products).c_str(), stdout);
}

}  // namespace algoperf
