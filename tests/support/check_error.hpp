#pragma once

#include <doctest/doctest.h>

#include <algoperf/nn/gradient_check.hpp>

namespace algoperf::testing {

// Checks that gradient_check() found no error of `tolerance` or more, and otherwise names the element.
inline void check_error(const GradientCheck& found, double tolerance = 1e-6) {
  INFO(found.tensor, " element ", found.element, ": ", found.analytic, " against ", found.numeric);
  CHECK(found.error < tolerance);
}

}  // namespace algoperf::testing
