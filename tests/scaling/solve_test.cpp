#include "algoperf/scaling/fit/solve.hpp"

#include <doctest/doctest.h>

#include <array>

#include "../support/near.hpp"

namespace ap = algoperf;

TEST_CASE("a linear system is solved with the largest pivots") {
  // The first pivot is 0, so rows must be exchanged.
  const std::array<std::array<double, 3>, 3> a = {{{0, 2, -1}, {4, 1, 3}, {-2, 5, 6}}};
  const std::array<double, 3> expected = {1.5, -2, 0.25};
  std::array<double, 3> b{}, x{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) b[i] += a[i][j] * expected[j];
  REQUIRE(ap::solve(a, b, x));
  for (std::size_t i = 0; i < 3; ++i) CHECK(x[i] == near(expected[i], 1e-14));
}

TEST_CASE("singular systems are reported") {
  std::array<double, 2> x{};
  CHECK_FALSE(ap::solve<2>({{{1, 2}, {2, 4}}}, {1, 2}, x));
  CHECK_FALSE(ap::solve<2>({{{0, 0}, {0, 1}}}, {1, 2}, x));
  CHECK(ap::solve<2>({{{1e-20, 0}, {0, 1e20}}}, {1e-20, 2e20}, x));  // columns of any scale
  CHECK(x[0] == near(1, 1e-15));
  CHECK(x[1] == near(2, 1e-15));
}
