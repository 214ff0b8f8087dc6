// describe(backend): what a host backend runs on. print(backend) writes it to standard output:
//
//   Host<float>, 2 threads
//     kernels: compiled for SSE2 (this processor has AVX-512: compile with -march=native)
//     products, convolutions: the library's tiles for AVX-512, chosen at run time
#pragma once

#include <cstdio>
#include <string>
#include <type_traits>

#include "../../core/print.hpp"
#include "../host.hpp"
#include "../products/gemm.hpp"
#include "instruction_set.hpp"

// Who computes the products of the file that uses this macro.
#if defined(ALGOPERF_EXTERN_GEMM)
#define ALGOPERF_PRODUCTS_BY ::algoperf::products_by()
#elif ALGOPERF_IN_CUDA_FILE
#define ALGOPERF_PRODUCTS_BY "products by Eigen, compiled with the program; convolutions are products"
#else
#define ALGOPERF_PRODUCTS_BY "the library's tiles, compiled with the program"
#endif

namespace algoperf {

// The defaults are those of the calling file. Kernels and products differ if the program links algoperf::gemm.
template <class S>
std::string describe(const Host<S>& host, InstructionSet kernels = ALGOPERF_COMPILED_FOR,
                     const std::string& products = ALGOPERF_PRODUCTS_BY) {
  std::string text = std::is_same_v<S, float> ? "Host<float>, " : "Host<double>, ";
  text += std::to_string(host.threads) + (host.threads == 1 ? " thread\n" : " threads\n");
  text += std::string("  kernels: compiled for ") + name(kernels);
  const InstructionSet supported = supported_instruction_set();
  if (kernels < supported)
    text += std::string(" (this processor has ") + name(supported) + ": compile with -march=native)";
  return text + "\n  products, convolutions: " + products + "\n";
}

template <class S>
void print(const Host<S>& host, InstructionSet kernels = ALGOPERF_COMPILED_FOR,
           const std::string& products = ALGOPERF_PRODUCTS_BY) {
  std::fputs(describe(host, kernels, products).c_str(), stdout);
}

}  // namespace algoperf
