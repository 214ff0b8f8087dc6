// The kernels of a backend's map(kernel, n, x, in...) that several floors use: x[i] = kernel(x[i], in[i]...).
#pragma once

#include "config.hpp"

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

// a, whatever x was
struct Assign {
  template <class T>
  ALGOPERF_HD T operator()(T, T a) const {
    return a;
  }
};

struct Subtract {
  template <class T>
  ALGOPERF_HD T operator()(T x, T a) const {
    return x - a;
  }
};

template <class S>
struct Multiply {
  S factor = 1;
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return factor * x;
  }
};

// a x + b y
template <class S>
struct LinearCombination {
  S a = 1, b = 1;
  template <class T>
  ALGOPERF_HD T operator()(T x, T y) const {
    return a * x + b * y;
  }
};

}  // namespace algoperf
