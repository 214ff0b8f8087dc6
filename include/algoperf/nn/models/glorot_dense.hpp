#pragma once

#include <cstddef>

#include "../layers/dense.hpp"

namespace algoperf::detail {

// A dense layer whose weights start as those of `parts` layers with units / parts each, with Glorot's uniform
// distribution.
constexpr Dense glorot_dense(std::size_t inputs, std::size_t units, std::size_t parts = 1) {
  const double of_parts = static_cast<double>(inputs + units / parts), of_whole = static_cast<double>(inputs + units);
  return {.units = units, .init = Init::glorot_uniform.divide_variance(of_parts / of_whole)};
}

}  // namespace algoperf::detail
