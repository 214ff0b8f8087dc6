#pragma once

#include "../../core/math.hpp"
#include "../activation.hpp"

namespace algoperf {

namespace detail {

struct ReluForward {
  template <class T>
  ALGOPERF_HD T operator()(T, T x) const {
    return math::select<T>(x < T(0), T(0), x);
  }
};
struct ReluBackward {
  template <class T>
  ALGOPERF_HD T operator()(T, T dy, T y) const {
    return math::select<T>(y <= T(0), T(0), dy);
  }
};

}  // namespace detail

// y = max(x, 0), in place; dx = dy where y > 0, else 0. NaN passes through, as in torch.
struct Relu : InPlaceActivation<detail::ReluForward, detail::ReluBackward, 1, 1> {};

}  // namespace algoperf
