#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// The same value at every step: s(i) = value. value is finite.
struct Constant {
  double value = __builtin_nan("");  // required

  void check() const { require(detail::is_finite(value), "Constant: value is ", value, ", expected a finite number"); }

  constexpr double operator()(std::uint64_t) const { return value; }
};

}  // namespace algoperf
