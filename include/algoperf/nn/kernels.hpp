// The element-wise kernels that several layers share.
#pragma once

#include "../core/config.hpp"

namespace algoperf {

// x + a, for map_rows and in place; or a + b, whatever x was.
struct Add {
  template <class T>
  ALGOPERF_HD T operator()(T x, T a) const {
    return x + a;
  }
  template <class T>
  ALGOPERF_HD T operator()(T, T a, T b) const {
    return a + b;
  }
};

}  // namespace algoperf
