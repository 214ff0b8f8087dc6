#include <doctest/doctest.h>

#include <cmath>

#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;

TEST_CASE("sam computes the gradient at p + rho g / |g| and steps from p") {
  const auto rule = ap::sam(ap::sgd(), {.rho = 0.5});
  const ap::Layout layout = layout_of({{3}, {2, 2}}, 1);
  auto state = rule.state(ap::Host<double>{}, layout);
  std::vector<double> values{1, -2, 3, 0.5, -1, 2, 4};
  std::vector<double> gradients = values, start = values;  // the gradient of |p|^2 / 2
  double norm = 0;
  for (const double p : start) norm += p * p;
  norm = std::sqrt(norm);

  int calls = 0;
  const auto evaluate = [&] {
    ++calls;
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(values[i] == near(start[i] * (1 + 0.5 / norm)));
      gradients[i] = values[i];
    }
  };
  rule.step(gradients, values, state, {.t = 1, .learning_rate = 0.1}, evaluate);
  CHECK(calls == 1);
  CHECK(state.t() == 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(values[i] == near(start[i] - 0.1 * start[i] * (1 + 0.5 / norm)));
}

TEST_CASE("sam computes one norm over all regions, and keeps only the rule's state between steps") {
  const auto masked = ap::masked(ap::DecayedWeights{.rate = 0}, ap::decayable);
  const auto regions = ap::sam(ap::chain(ap::Momentum{}, masked, ap::Descend{}));
  const auto one = ap::sam(ap::momentum());
  ap::testing::Training<std::remove_cv_t<decltype(regions)>, ap::Host<double>> a(regions, layout_of({{3, 2}, {5}}));
  ap::testing::Training<std::remove_cv_t<decltype(one)>, ap::Host<double>> b(one, layout_of({{3, 2}, {5}}));
  a.steps(5, 0.05);
  b.steps(5, 0.05);
  for (std::size_t i = 0; i < 11; ++i) CHECK(a.values()[i] == near(b.values()[i], 1e-13));
}

TEST_CASE("sam does not move if the gradient is zero") {
  const auto rule = ap::sam(ap::sgd());
  const ap::Layout layout = layout_of({{4}}, 1);
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<float> gradients(4), values{1, 2, 3, 4};
  rule.step(gradients, values, state, {.t = 1, .learning_rate = 0.1}, [] {});
  CHECK(values == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("sam returns to p if the second gradient throws") {
  const auto rule = ap::sam(ap::sgd());
  const ap::Layout layout = layout_of({{4}}, 1);
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<float> gradients{1, 2, 3, 4}, values{1, 2, 3, 4};
  const auto fails = [] { throw ap::Error("no gradient"); };
  CHECK_THROWS_AS(rule.step(gradients, values, state, {.t = 1, .learning_rate = 0.1}, fails), ap::Error);
  CHECK(values == std::vector<float>{1, 2, 3, 4});
  CHECK(state.t() == 0);
}

TEST_CASE("sam throws if gradients have the wrong size") {
  const auto rule = ap::sam(ap::sgd());
  const ap::Layout layout = layout_of({{4}}, 1);
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<float> three(3), four(4);
  CHECK_THROWS_WITH_AS(
      rule.step(three, four, state, {.t = 1, .learning_rate = 0.1}, [] {}),
      "step: gradients have 3 elements, the layout has 4 (padding included: Layout(1) describes packed tensors)",
      ap::Error);
}
