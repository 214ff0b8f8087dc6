// Tests of rules on the caller's memory, and of the names in checkpoints.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

#include "../memory_archive.hpp"
#include "algoperf/rules/all.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;
using ap::testing::Training;

namespace {

template <class State>
std::set<std::string> names_in(State state) {
  std::set<std::string> names;
  for (const auto& [name, bytes] : ap::testing::save(state)) names.insert(name);
  return names;
}

}  // namespace

TEST_CASE("step throws if gradients or values have the wrong size") {
  const auto rule = ap::adamw();
  const ap::Layout layout = layout_of({{5}}, 1);
  auto state = rule.state(ap::Host{}, layout);
  std::vector<float> five(5), six(6);
  const ap::Step now{.t = 1, .learning_rate = 0.1};
  CHECK_THROWS_WITH_AS(
      rule.step(six, five, state, now),
      "step: gradients have 6 elements, the layout has 5 (padding included: Layout(1) describes packed tensors)",
      ap::Error);
  CHECK_THROWS_WITH_AS(
      rule.step(five, six, state, now),
      "step: values have 6 elements, the layout has 5 (padding included: Layout(1) describes packed tensors)",
      ap::Error);
}

TEST_CASE("step throws without a learning rate") {
  const auto rule = ap::sgd();
  const ap::Layout layout = layout_of({{5}}, 1);
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<float> g(5), p(5);
  CHECK_THROWS_WITH_AS(rule.step(g, p, state, {.t = 2}),
                       "step: learning_rate is nan at t = 2, expected a finite number of at least 0", ap::Error);
  CHECK_THROWS_WITH_AS(rule.step(g, p, state, {.t = 2, .learning_rate = -0.5}),
                       "step: learning_rate is -0.5 at t = 2, expected a finite number of at least 0", ap::Error);
  CHECK_THROWS_WITH_AS(rule.step(g, p, state, {.t = 2, .learning_rate = HUGE_VAL}),
                       "step: learning_rate is inf at t = 2, expected a finite number of at least 0", ap::Error);
  CHECK_NOTHROW(rule.step(g, p, state, {.t = 2, .learning_rate = 0}));
}

TEST_CASE("with an eps below the scalar's range, zero gradients leave the parameters unchanged") {
  const auto rule = ap::adam({.eps = 1e-44});
  const ap::Layout layout = layout_of({{5}}, 1);
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<float> g(5), p{1, 2, 3, 4, 5};
  rule.step(g, p, state, {.t = 1, .learning_rate = 0.1});
  CHECK(p == std::vector<float>{1, 2, 3, 4, 5});
}

TEST_CASE("a state names each slot by tensor") {
  const ap::Layout layout = layout_of({{2, 2}, {3}});
  const ap::Host<float> host;
  using Names = std::set<std::string>;
  CHECK(names_in(ap::sgd().state(host, layout)) == Names{"t"});
  CHECK(names_in(ap::momentum().state(host, layout)) == Names{"t", "t0/momentum_buffer", "t1/momentum_buffer"});
  CHECK(names_in(ap::adamw().state(host, layout)) ==
        Names{"t", "t0/exp_avg", "t0/exp_avg_sq", "t1/exp_avg", "t1/exp_avg_sq"});
  CHECK(names_in(ap::sam(ap::momentum()).state(host, layout)) ==
        Names{"sam/t", "sam/t0/momentum_buffer", "sam/t1/momentum_buffer"});
  CHECK(names_in(ap::partition(ap::matrices, ap::muon(), ap::otherwise, ap::lion()).state(host, layout)) ==
        Names{"part_0/t", "part_0/t0/momentum_buffer", "part_1/t", "part_1/t1/exp_avg"});
}

TEST_CASE("a checkpoint can be loaded with another alignment or order of tensors") {
  const auto rule = ap::chain(ap::Adam{}, ap::masked(ap::DecayedWeights{}, ap::decayable), ap::Descend{});
  using Rule = std::remove_cv_t<decltype(rule)>;
  const std::vector<ap::Shape> shapes{{5}, {2, 3}, {4}, {3, 3}};
  ap::Layout arranged = layout_of(shapes);
  arranged.arrange_for(rule);
  Training<Rule, ap::Host<float>> one(rule, layout_of(shapes, 1)), other(rule, arranged);
  one.steps(5, 0.05);
  ap::testing::load(other.state, ap::testing::save(one.state));
  CHECK(ap::testing::save(other.state) == ap::testing::save(one.state));
}

TEST_CASE("a state is a value: a copy is independent") {
  const auto rule = ap::adam();
  Training<std::remove_cv_t<decltype(rule)>, ap::Host<float>> one(rule, layout_of({{7}}));
  one.steps(3, 0.05);
  auto other = one;
  one.steps(2, 0.05);
  const auto values = one.values();
  other.steps(2, 0.05);
  CHECK(other.values() == values);
  CHECK(ap::testing::save(other.state) == ap::testing::save(one.state));
}
