// Convolutions of the host backend, on the calling thread. S is float or double. Like matrix products (gemm.hpp), every
// source file compiles its own copy unless algoperf::gemm is linked. They are not available in .cu files, where Conv2d
// uses matrix products of unrolled windows.
#pragma once

#include <cstddef>

#include "../convolution.hpp"

namespace algoperf {

//   y[o, q, f] = bias[f] + sum over i, j, c of weight[f, i, j, c] x[o stride + i - padding, q stride + j - padding, c]
// `bias` may be null.
template <class S>
__attribute__((noinline)) void convolve(const Convolution&, const S* x, const S* weight, const S* bias, S* y);
// Overwrite dx and d_weight with the gradients of x and of weight, given the gradient dy of y.
template <class S>
__attribute__((noinline)) void convolve_back_to_input(const Convolution&, const S* dy, const S* weight, S* dx);
template <class S>
__attribute__((noinline)) void convolve_back_to_weight(const Convolution&, const S* x, const S* dy, S* d_weight);

// The same for depthwise convolutions:
//   y[o, q, c] = bias[c] + sum over i, j of weight[i, j, c] x[o stride + i - padding, q stride + j - padding, c]
template <class S>
__attribute__((noinline)) void convolve(const DepthwiseConvolution&, const S* x, const S* weight, const S* bias, S* y);
template <class S>
__attribute__((noinline)) void convolve_back_to_input(const DepthwiseConvolution&, const S* dy, const S* weight, S* dx);
template <class S>
__attribute__((noinline)) void convolve_back_to_weight(const DepthwiseConvolution&, const S* x, const S* dy,
                                                       S* d_weight);

}  // namespace algoperf

#if !defined(ALGOPERF_EXTERN_GEMM) && !defined(ALGOPERF_CONVOLUTION_CHOSEN)
#include "convolution_tiles.hpp"
#include "depthwise_tiles.hpp"
#endif
