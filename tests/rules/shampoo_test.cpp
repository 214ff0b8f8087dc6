// Tests of Shampoo beyond its formula (golden values: matrix_golden_test.cpp; roots: roots_test.cpp).
#include "algoperf/rules/recipes/shampoo.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/backend/products/linear_algebra.hpp"
#include "algoperf/rules/chain/chain.hpp"
#include "algoperf/rules/stages/adam.hpp"
#include "algoperf/rules/wrappers/partition.hpp"
#include "algoperf/rules/wrappers/scheduled.hpp"
#include "algoperf/schedules/constant.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;
using ap::testing::save;
using ap::testing::Training;
using ap::testing::values_after;

namespace {

// A root method that fails in its first `failures` attempts and records the ridges of all attempts.
struct Flaky : ap::EigenRoot {
  int failures = 0;
  bool with_nan = false;  // fails by returning a result that is not finite
  std::vector<double>* ridges = nullptr;

  template <class Backend, class S>
  bool attempt(const Backend& backend, std::size_t n, const S* a, double p, double ridge, S* root,
               Scratch<Backend>& s) const {
    ridges->push_back(ridge);
    const bool fails = static_cast<int>(ridges->size()) <= failures;
    const bool done = ap::EigenRoot::attempt(backend, n, a, p, ridge, root, s);
    if (fails && with_nan) root[n * n - 1] = std::numeric_limits<S>::quiet_NaN();
    return done && (!fails || with_nan);
  }
};

template <class Rule>
std::uint64_t failed_roots(Training<Rule, ap::Host<double>>& training) {
  std::uint64_t count = 0;
  std::memcpy(&count, save(training.state).at("t0/left/roots_failed").data(), sizeof count);
  return count;
}

}  // namespace

TEST_CASE("before start_step the update is the graft's direction") {
  const ap::ShampooOptions late{.beta1 = 0.8, .weight_decay = 0, .start_step = 100};
  const ap::Layout layout = layout_of({{5, 4}});
  const auto shampoo = values_after<double>(ap::shampoo(late), layout, 10);
  const auto adam = values_after<double>(ap::adam({.beta1 = 0.8}), layout, 10);
  for (std::size_t i = 0; i < adam.size(); ++i) CHECK(shampoo[i] == near(adam[i], 1e-12));
}

TEST_CASE("a grafted update has the graft's norm and another direction") {
  const ap::Layout layout = layout_of({{5, 4}});
  const auto step = [&](std::uint64_t start) {
    const auto rule = ap::shampoo({.weight_decay = 0, .start_step = start});
    auto state = rule.state(ap::Host<double>{}, layout);
    std::vector<double> gradients(layout.size()), values(layout.size());
    for (std::size_t i = 0; i < 20; ++i) gradients[i] = ap::testing::start_value(i * i);
    rule.step(gradients, values, state, {.t = 1, .learning_rate = 1});
    return values;
  };
  const auto grafted = step(1), graft = step(2);
  double dot = 0, a = 0, b = 0;
  for (std::size_t i = 0; i < grafted.size(); ++i) {
    dot += grafted[i] * graft[i];
    a += grafted[i] * grafted[i];
    b += graft[i] * graft[i];
  }
  CHECK(a == near(b, 1e-12));
  CHECK(dot > 0.1 * a);
  CHECK(dot < 0.99 * a);
}

TEST_CASE("a root that fails is retried with ten times the ridge; if all retries fail, the previous root is kept") {
  std::vector<double> ridges;
  for (const bool with_nan : {false, true})
    for (const int failures : {0, 2, 3, 100}) {
      CAPTURE(failures);
      ridges.clear();
      Flaky flaky;
      flaky.failures = failures;
      flaky.with_nan = with_nan;
      flaky.ridges = &ridges;
      const auto rule = ap::chain(ap::Precondition<Flaky>{.epsilon = 1e-8,
                                                          .root_frequency = 1,
                                                          .start_step = 1,
                                                          .retries = 3,
                                                          .sides = ap::Sides::left,
                                                          .root_method = flaky},
                                  ap::Descend{});
      Training<decltype(rule), ap::Host<double>> training(rule, layout_of({{4, 3}}));
      const auto before = save(training.state);
      training.step(0.1);
      const int tries = failures < 3 ? failures + 1 : 4;
      REQUIRE(static_cast<int>(ridges.size()) == tries);
      for (int i = 0; i < tries; ++i) CHECK(ridges[static_cast<std::size_t>(i)] == near(1e-8 * std::pow(10, i)));
      CHECK(failed_roots(training) == (failures > 3 ? 1 : 0));
      CHECK(ap::testing::changed(before, save(training.state), "/root") == (failures > 3 ? 0 : 1));
      for (const double value : training.values()) CHECK(std::isfinite(value));
    }
}

TEST_CASE_TEMPLATE("zero and rank-deficient gradients give finite updates", Root, ap::EigenRoot, ap::NewtonRoot) {
  const auto rule = ap::shampoo({.weight_decay = 0, .root_frequency = 1, .start_step = 1}, ap::GraftAdam{}, Root{});
  const ap::Layout layout = layout_of({{6, 8}});
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<float> gradients(layout.size()), values(layout.size());
  rule.step(gradients, values, state, {.t = 1, .learning_rate = 0.1});
  for (const float value : values) CHECK(value == 0);
  for (std::uint64_t t = 2; t < 30; ++t) {
    for (std::size_t i = 0; i < 48; ++i) gradients[i] = static_cast<float>(i % 8) - 3.0f;  // all rows are equal
    rule.step(gradients, values, state, {.t = t, .learning_rate = 0.1});
  }
  for (std::size_t i = 0; i < 48; ++i) {
    CHECK(std::isfinite(values[i]));
    CHECK(values[i] == near(values[i % 8], 1e-4));
  }
}

TEST_CASE("a block whose gradient becomes zero keeps moving by its average, with finite steps for every graft") {
  const auto check = [](const auto& graft) {
    const auto rule = ap::chain(
        ap::Precondition<ap::NewtonRoot, std::remove_cvref_t<decltype(graft)>>{
            .root_frequency = 1, .start_step = 1, .graft = graft},
        ap::Descend{});
    const ap::Layout layout = layout_of({{4, 4}}, 1);
    auto state = rule.state(ap::Host<double>{}, layout);
    std::vector<double> values(16), gradients(16, 1.0);
    for (std::uint64_t t = 1; t <= 4; ++t) {
      rule.step(gradients, values, state, {.t = t, .learning_rate = 0.01});
      gradients.assign(16, 0.0);
    }
    for (const double value : values) CHECK(std::abs(value) < 10);
  };
  check(ap::GraftRmsPropNormalized{});
  check(ap::GraftRmsProp{});
  check(ap::GraftAdam{});
  check(ap::GraftSgd{});
}

TEST_CASE("beta1 can follow a schedule; its value at the first step decides whether gradients are averaged") {
  using P = ap::Precondition<>;
  const ap::Layout layout = layout_of({{4, 3}});
  const auto after = [&](const auto& stage) {
    Training<std::remove_cvref_t<decltype(ap::chain(stage, ap::Descend{}))>, ap::Host<double>> training(
        ap::chain(stage, ap::Descend{}), layout);
    training.steps(3, 0.01);
    return training.values();
  };
  const P none{.beta1 = 0, .start_step = 1}, some{.beta1 = 0.9, .start_step = 1};
  CHECK(after(ap::scheduled(none, &P::beta1, ap::Constant{0.9})) == after(some));
  CHECK(after(ap::scheduled(some, &P::beta1, ap::Constant{0})) == after(none));
}

TEST_CASE("the state has the documented names and sizes, and resumes between updates of the roots") {
  const auto rule = ap::chain(
      ap::Precondition<ap::EigenRoot, ap::GraftAdam>{.block = 4, .root_frequency = 5, .start_step = 2}, ap::Descend{});
  const ap::Layout layout = layout_of({{6, 4}, {3, 3}});
  Training<decltype(rule), ap::Host<float>> whole(rule, layout), first = whole, second = whole;
  const auto saved = save(whole.state);
  std::size_t bytes = 0;
  for (const auto& [name, array] : saved) bytes += array.size();
  const std::size_t counters = 8 * (1 + 2 + 6);  // the chain's t, each tensor's, each factor's roots_failed
  CHECK(bytes == counters + 4 * (2 * (16 + 16 + 4 + 16 + 9 + 9) + 2 * (24 + 9)));
  for (const char* name :
       {"left/statistic", "left/root", "right/statistic", "right/root", "exp_avg", "graft_exp_avg_sq"})
    CHECK(saved.count(std::string("t0/block_1/") + name) == 1);

  whole.steps(12, 0.02);
  first.steps(6, 0.02);
  ap::testing::load(second.state, save(first.state));
  second.resume(first);
  second.steps(6, 0.02);
  CHECK(second.values() == whole.values());
  CHECK(save(second.state) == save(whole.state));

  const auto bare =
      ap::chain(ap::Precondition<ap::EigenRoot, ap::NoGraft>{.beta1 = 0, .sides = ap::Sides::right}, ap::Descend{});
  auto state = bare.state(ap::Host<float>{}, layout);
  CHECK(ap::testing::arrays_named(save(state), "") == 1 + 2 + 2 * 3);
}

TEST_CASE("invalid hyperparameters and tensors throw") {
  const ap::Layout layout = layout_of({{4, 3}, {5}});
  const auto refuses = [&](const auto& rule, const char* sentence) {
    CHECK_THROWS_WITH_AS((void)rule.state(ap::Host<float>{}, layout), sentence, ap::Error);
  };
  const auto stage = [](const auto& precondition) { return ap::chain(precondition, ap::Descend{}); };
  using P = ap::Precondition<>;
  refuses(stage(P{.beta1 = 1}), "Precondition: beta1 is 1, expected [0, 1)");
  refuses(stage(P{.beta2 = 1.5}), "Precondition: beta2 is 1.5, expected [0, 1]");
  refuses(stage(P{.beta3 = 2}), "Precondition: beta3 is 2, expected less than 1");
  refuses(stage(P{.epsilon = 0}), "Precondition: epsilon is 0, expected more than 0 and finite");
  refuses(stage(P{.root = -2}), "Precondition: root is -2, expected more than 0 and finite, or 0 for 2 k");
  refuses(stage(P{.block = 0}), "Precondition: block is 0, expected at least 1");
  refuses(stage(P{.statistics_frequency = 0}), "Precondition: statistics_frequency is 0, expected at least 1");
  refuses(ap::shampoo({.root_frequency = 0}), "Precondition: root_frequency is 0, expected at least 1");
  refuses(ap::shampoo({.start_step = 0}), "Precondition: start_step is 0, expected at least 1");
  refuses(stage(P{.retries = -1}), "Precondition: retries is -1, expected at least 0");
  refuses(ap::shampoo({}, ap::GraftAdam{.beta2 = 1}), "GraftAdam: beta2 is 1, expected [0, 1)");
  refuses(ap::shampoo({}, ap::GraftAdagrad{.eps = 0}), "GraftAdagrad: eps is 0, expected more than 0");
  refuses(ap::shampoo({}, ap::GraftSgd{}, ap::NewtonRoot{.max_iterations = 0}),
          "NewtonRoot: max_iterations is 0, expected at least 1");
  refuses(stage(ap::Precondition<ap::NewtonRoot>{.root = 2.5}),
          "NewtonRoot: the root is 2.5, expected a whole number: use EigenRoot");
  refuses(ap::shampoo(),
          "Precondition: the tensor 't1' is not a matrix; use partition(matrices, shampoo(), otherwise, adamw())");
  CHECK_NOTHROW(
      (void)ap::partition(ap::matrices, ap::shampoo(), ap::otherwise, ap::adam()).state(ap::Host<float>{}, layout));
}
