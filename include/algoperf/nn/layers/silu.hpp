#pragma once

#include "../../core/math.hpp"
#include "../activation.hpp"

namespace algoperf {

namespace detail {

struct SiluForward {
  template <class T>
  ALGOPERF_HD T operator()(T, T x) const {
    return x * math::sigmoid(x);
  }
};
struct SiluBackward {
  template <class T>
  ALGOPERF_HD T operator()(T, T x, T dy) const {
    const T s = math::sigmoid(x);
    return dy * s * (T(1) + x * (T(1) - s));
  }
};

}  // namespace detail

// y = x sigmoid(x), also called swish; dx = dy s (1 + x (1 - s)), s = sigmoid(x).
// Source: Elfwing et al. 2018; Ramachandran et al. 2017. Cost: 4 FLOPs per element forward, 8 backward.
struct Silu : Activation<detail::SiluForward, detail::SiluBackward, 4, 8> {};

}  // namespace algoperf
