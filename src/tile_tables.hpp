// The matrix products and convolutions by tiles, compiled for several instruction sets.
#pragma once

#include <cstddef>

#include "algoperf/backend/convolution.hpp"

namespace algoperf::products {

template <class S>
using Gemm = void(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
                  S* c, std::size_t ldc, bool accumulate);

template <class S>
using GemmBias = void(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b,
                      std::size_t ldb, const S* bias, S* c, std::size_t ldc);

// The convolutions with parameters P.
template <class P, class S>
struct Convolve {
  void (*forward)(const P&, const S* x, const S* weight, const S* bias, S* y);
  void (*back_to_input)(const P&, const S* dy, const S* weight, S* dx);
  void (*back_to_weight)(const P&, const S* x, const S* dy, S* d_weight);
};

template <class S>
struct Functions {
  Gemm<S>*nn, *nt, *tn;
  GemmBias<S>* nt_bias;
  Convolve<Convolution, S> all_channels;
  Convolve<DepthwiseConvolution, S> depthwise;
};

// Converts to the functions of a scalar type.
struct TileTable : Functions<float>, Functions<double> {};

extern const TileTable sse2, avx2, avx512;

}  // namespace algoperf::products
