// Kernels that matrix rules pass to a backend's map(kernel, n, x, in...): x[i] = kernel(x[i], in[i]...).
#pragma once

#include "../../core/map_kernels.hpp"
#include "../stages/root.hpp"

namespace algoperf::detail {

// keep x + rest y y
template <class S>
struct SecondMoment {
  S keep = 1, rest = 1;
  template <class T>
  ALGOPERF_HD T operator()(T x, T y) const {
    return keep * x + rest * y * y;
  }
};

// scale m / root(v). The previous x is ignored.
template <class S>
struct OverRoot {
  S scale = 1;
  Root<S> root;
  template <class T>
  ALGOPERF_HD T operator()(T, T m, T v) const {
    return math::fast_divide(scale * m, root(v));
  }
};

}  // namespace algoperf::detail
