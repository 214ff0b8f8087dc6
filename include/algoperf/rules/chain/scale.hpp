#pragma once

#include "../concept.hpp"

namespace algoperf {

// The kernel u' = factor u, which several stages become. Where its neighbour can take the factor over, fuse(...) folds
// it away (rules/chain/fused.hpp).
template <class S>
struct Scale {
  static constexpr std::size_t slots = 0;
  S factor = 1;
  template <class T>
  ALGOPERF_HD T operator()(T u, T, Slots<T, 0>&) const {
    return factor * u;
  }
};

}  // namespace algoperf
