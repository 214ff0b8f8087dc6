#pragma once

#include "../concept.hpp"

namespace algoperf {

// The kernel u' = factor u, to which several stages reduce. fuse(...) folds it into the constants of the kernel
// before it if that kernel has scaled() or commuted() (rules/chain/fused.hpp).
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
