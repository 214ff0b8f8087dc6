// The matrix products and convolutions by tiles, compiled for several instruction sets.
#pragma once

#include <cstddef>

#include "algoperf/backend/convolution.hpp"

namespace algoperf::products {

template <class S>
using Gemm = void(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
                  S* c, std::size_t ldc, bool accumulate);

template <class S>
struct Functions {
  Gemm<S>*nn, *nt, *tn;
  void (*convolve)(const Convolution&, const S* x, const S* weight, const S* bias, S* y);
  void (*convolve_back_to_input)(const Convolution&, const S* dy, const S* weight, S* dx);
  void (*convolve_back_to_weight)(const Convolution&, const S* x, const S* dy, S* d_weight);
};

// Converts to the functions of a scalar type.
struct TileTable : Functions<float>, Functions<double> {};

extern const TileTable sse2, avx2, avx512;

}  // namespace algoperf::products
