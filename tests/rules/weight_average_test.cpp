#include <doctest/doctest.h>

#include <cmath>

#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;

TEST_CASE("evaluation values are the debiased average of the parameters after each step") {
  const double decay = 0.8;
  const auto rule = ap::chain(ap::Momentum{}, ap::Descend{}, ap::WeightAverage{.decay = decay});
  ap::testing::Training<decltype(ap::chain(ap::Momentum{}, ap::Descend{}, ap::WeightAverage{})), ap::Host<double>>
      training(rule, layout_of({{3, 4}, {5}}));
  CHECK(training.evaluation_values() == training.values());  // before the first step there is no average

  std::vector<double> average(17);
  for (int t = 1; t <= 6; ++t) {
    training.step(0.05);
    const auto values = training.values(), evaluated = training.evaluation_values();
    for (std::size_t i = 0; i < 17; ++i) {
      average[i] = decay * average[i] + (1 - decay) * values[i];
      CHECK(evaluated[i] == near(average[i] / (1 - std::pow(decay, t)), 1e-13));
    }
    CHECK(training.values() == values);  // evaluation_values does not change them
  }
}

TEST_CASE("without an average, evaluation values are the parameters") {
  static_assert(!decltype(ap::adamw())::has_evaluation_values);
  ap::testing::Training<decltype(ap::adamw()), ap::Host<float>> training(ap::adamw(), layout_of({{9}}));
  training.steps(3, 0.05);
  CHECK(training.evaluation_values() == training.values());
}

TEST_CASE("tensors that a mask or a partition excludes from the average are evaluated without it") {
  // Products with powers of two are exact, so the bits do not depend on which sums the compiler contracts.
  const ap::WeightAverage average{.decay = 0.5};
  const auto check = [](const auto& rule, const auto& averaged) {
    ap::testing::Training<std::remove_cvref_t<decltype(rule)>, ap::Host<double>> some(rule, layout_of({{3, 4}, {5}}));
    ap::testing::Training<std::remove_cvref_t<decltype(averaged)>, ap::Host<double>> all(averaged,
                                                                                         layout_of({{3, 4}, {5}}));
    some.steps(4, 0.0625);
    all.steps(4, 0.0625);
    CHECK(some.values() == all.values());
    const auto found = some.evaluation_values(), average_of_all = all.evaluation_values(), values = some.values();
    for (std::size_t i = 0; i < 17; ++i) CHECK(found[i] == (i < 12 ? average_of_all[i] : values[i]));
  };
  const auto averaged = ap::chain(ap::Descend{}, average);
  check(ap::chain(ap::Descend{}, ap::masked(average, ap::matrices)), averaged);
  check(ap::partition(ap::matrices, averaged, ap::otherwise, ap::chain(ap::Descend{})), averaged);
}
