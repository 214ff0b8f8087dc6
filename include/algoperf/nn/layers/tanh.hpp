#pragma once

#include "../../core/math.hpp"
#include "../activation.hpp"

namespace algoperf {

namespace detail {

struct TanhForward {
  template <class T>
  ALGOPERF_HD T operator()(T, T x) const {
    return math::tanh(x);
  }
};
struct TanhBackward {
  template <class T>
  ALGOPERF_HD T operator()(T, T dy, T y) const {
    return dy * (T(1) - y * y);
  }
};

}  // namespace detail

// y = tanh(x), in place; dx = dy (1 - y^2). Cost: 21 FLOPs per element forward, 3 backward.
struct Tanh : InPlaceActivation<detail::TanhForward, detail::TanhBackward, 21, 3> {};

}  // namespace algoperf
