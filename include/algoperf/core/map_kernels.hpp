// Kernels for a backend's map(kernel, n, x, in...), which computes x[i] = kernel(x[i], in[i]...). Several layers of the
// architecture use them.
#pragma once

#include "config.hpp"

namespace algoperf {

// x + a, in place or in map_rows; or a + b, which overwrites x.
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

// x + a, or x if the guard closes
template <class Guard>
struct AddUnless {
  Guard guard;
  template <class T>
  ALGOPERF_HD T operator()(T x, T a) const {
    return guard.closes() ? x : x + a;
  }
};

// a, which overwrites x
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

// x a
struct MultiplyBy {
  template <class T>
  ALGOPERF_HD T operator()(T x, T a) const {
    return x * a;
  }
};

// a b, which overwrites x
struct Times {
  template <class T>
  ALGOPERF_HD T operator()(T, T a, T b) const {
    return a * b;
  }
};

// x + a b
struct AddProduct {
  template <class T>
  ALGOPERF_HD T operator()(T x, T a, T b) const {
    return x + a * b;
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

// factor a, which overwrites x
template <class S>
struct ScaledBy {
  S factor = 1;
  template <class T>
  ALGOPERF_HD T operator()(T, T a) const {
    return T(factor) * a;
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
