// A square root that constant expressions can compute.
#pragma once

#include "config.hpp"

namespace algoperf::detail {

// Returns the square root of a finite x >= 0, to the last bit or the one before it, by Newton's method from above.
constexpr double square_root(double x) {
  if (x == 0) return 0;
  double root = x < 1 ? 1 : x;
  for (double next = (root + x / root) / 2; next < root; next = (root + x / root) / 2) root = next;
  return root;
}
static_assert(square_root(1024) == 32 && square_root(2) > 1.414213562373 && square_root(2) < 1.414213562374);

}  // namespace algoperf::detail
