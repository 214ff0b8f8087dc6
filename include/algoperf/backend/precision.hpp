#pragma once

#include "../core/config.hpp"

namespace algoperf {

// The precision of matrix products of floats: fp32, or factors that are rounded to a mantissa of 10 bits (tf32) or 7
// bits (bf16) and sums in float. Host<float> and Cuda<float> have a field `precision`. Host computes tf32 in fp32. It
// computes bf16 in fp32, too, if a product has fewer than 32 rows or columns, or if the program cannot use AVX512_BF16
// (products/gemm_bfloat16.hpp).
enum class Precision { fp32, tf32, bf16 };

// The precision of a backend's products; fp32 if the backend has no field `precision`.
template <class Backend>
Precision precision_of(const Backend& backend) {
  if constexpr (requires { backend.precision; })
    return backend.precision;
  else
    return Precision::fp32;
}

// A copy of the backend with products of this precision. If `precision` is fp32, the copy keeps the backend's own. If
// the backend has no field `precision`, returns the backend itself.
template <class Backend>
decltype(auto) with_precision(const Backend& backend, Precision precision) {
  if constexpr (requires { backend.precision; }) {
    Backend copy = backend;
    if (precision != Precision::fp32) copy.precision = precision;
    return copy;
  } else {
    return (backend);
  }
}

}  // namespace algoperf
