#include "algoperf/scaling/fit/jet.hpp"

#include <doctest/doctest.h>

#include <array>
#include <type_traits>

#include "../support/near.hpp"

namespace ap = algoperf;

namespace {

// Compares the derivatives of f(x, y) with central differences.
template <class F>
void derivatives_are_right(const F& f) {
  const std::array<double, 2> at{1.3, -0.4};
  const auto moved = [&](double x, double y) { return f(at[0] + x, at[1] + y); };
  const ap::Jet<2> jet = f(ap::Jet<2>::variable(at[0], 0), ap::Jet<2>::variable(at[1], 1));
  const double h = 1e-4;
  CHECK(jet.value == near(moved(0, 0), 1e-15));
  CHECK(jet.first[0] == near((moved(h, 0) - moved(-h, 0)) / (2 * h), 1e-6));
  CHECK(jet.first[1] == near((moved(0, h) - moved(0, -h)) / (2 * h), 1e-6));
  CHECK(jet.second[0] == near((moved(h, 0) - 2 * moved(0, 0) + moved(-h, 0)) / (h * h), 1e-5));
  CHECK(jet.second[1] == near((moved(h, h) - moved(h, -h) - moved(-h, h) + moved(-h, -h)) / (4 * h * h), 1e-5));
  CHECK(jet.second[2] == near((moved(0, h) - 2 * moved(0, 0) + moved(0, -h)) / (h * h), 1e-5));
}

}  // namespace

TEST_CASE("jets: derivatives agree with differences") {
  // Each function is curved in both variables.
  derivatives_are_right([](const auto& x, const auto& y) { return x * x * y * y + x * 3 - 2 * y + 1; });
  derivatives_are_right([](const auto& x, const auto& y) { return x / (y + 2 * x); });
  derivatives_are_right([](const auto& x, const auto& y) { return 5 / (x * x + y * y) - x * y / 7; });
  derivatives_are_right([](const auto& x, const auto& y) { return ap::jets::exp(x * y) - (1 - x) * y * y; });
  derivatives_are_right([](const auto& x, const auto& y) { return ap::jets::log(x * x + y * y + x * y); });
  derivatives_are_right([](const auto& x, const auto& y) { return ap::jets::softplus(x * x - y * y + 3 * x * y); });
  derivatives_are_right([](const auto& x, const auto& y) {
    using T = std::remove_cvref_t<decltype(x)>;
    return ap::jets::log_sum_exp(std::array<T, 3>{x * y, x * x + y, y * y - x});
  });
}
