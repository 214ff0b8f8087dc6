// Tests of saving and loading states by name, including states of PyTorch optimizers.
#include "algoperf/state/state_dict.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "../golden/rules.hpp"
#include "../golden/torch_state.hpp"
#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "training.hpp"

namespace ap = algoperf;

namespace {

ap::Layout torch_layout(std::size_t alignment) {
  ap::Layout layout(alignment);
  layout.add({"w", ap::Kind::weight, {5, 3}});
  layout.add({"b", ap::Kind::bias, {7}});
  return layout;
}

// Checks that ten steps from torch's state and parameters after ten steps give torch's parameters after twenty steps.
template <class Rule>
void goes_on(const char* name, const Rule& rule) {
  INFO("rule: ", std::string(name));
  const auto* const torch = std::find_if(std::begin(golden::torch_states), std::end(golden::torch_states),
                                         [&](const auto& state) { return std::strcmp(state.rule, name) == 0; });
  REQUIRE(torch != std::end(golden::torch_states));
  const ap::Layout layout = torch_layout(1);
  auto state = rule.state(ap::Host<double>{}, layout);
  ap::StateDict dict;
  dict.set("t", std::uint64_t{10});
  for (const golden::TorchArray& array : torch->state) {
    if (std::strcmp(array.name, "mu_product") == 0) {  // torch has one per tensor, all equal
      dict.set("stage_0/mu_product", array.w);
    } else {
      dict.set(std::string("w/") + array.name, array.w);
      dict.set(std::string("b/") + array.name, array.b);
    }
  }
  ap::load_state_dict(dict, state);
  std::vector<double> values = torch->after_ten, gradients(values.size());
  for (std::uint64_t t = 11; t <= 20; ++t) {
    for (std::size_t i = 0; i < values.size(); ++i)
      gradients[i] = golden::gradient(static_cast<int>(t), static_cast<int>(i), values[i]);
    rule.step(gradients, values, state, {.t = t, .learning_rate = golden::learning_rate});
  }
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == near(torch->after_twenty[i], 1e-12));
}

// Gives two values the same name.
struct Twice {
  double x = 0;
  void visit(auto& archive) {
    archive.number("x", x);
    archive.number("x", x);
  }
};

}  // namespace

TEST_CASE("the state of a PyTorch optimizer can be loaded and training continued") {
  goes_on("momentum", ap::momentum());
  goes_on("adamw", ap::adamw({.weight_decay = 0.1}));
  goes_on("amsgrad", ap::amsgrad());
  goes_on("nadam", ap::nadam());
  goes_on("radam", ap::radam());
  goes_on("rmsprop", ap::rmsprop());
  goes_on("adagrad", ap::adagrad());
}

TEST_CASE("a state dict stores each array by name with its type, and restores the same state") {
  const auto rule = ap::partition(ap::matrices, ap::muon(), ap::otherwise, ap::nadam());
  using Rule = std::remove_cv_t<decltype(rule)>;
  ap::testing::Training<Rule, ap::Host<float>> one(rule, torch_layout(16)), other(rule, torch_layout(1));
  one.steps(3, 0.05);
  const ap::StateDict dict = ap::state_dict(one.state);
  CHECK(dict.get<float>("part_1/b/exp_avg").size() == 7);
  CHECK(dict.get<float>("part_0/w/momentum_buffer").size() == 15);
  CHECK(dict.get<std::uint64_t>("part_1/t").front() == 3);
  CHECK(dict.get<double>("part_1/stage_0/mu_product").front() < 1);
  ap::load_state_dict(dict, other.state);
  CHECK(ap::state_dict(other.state).arrays() == dict.arrays());
}

TEST_CASE("loading a state dict that does not fit throws and changes nothing") {
  const auto rule = ap::adam();
  const ap::Layout layout = torch_layout(16);
  auto state = rule.state(ap::Host<float>{}, layout);
  const ap::StateDict good = ap::state_dict(state);
  const auto refuses = [&](const ap::StateDict& dict, const char* sentence) {
    CHECK_THROWS_WITH_AS(ap::load_state_dict(dict, state), sentence, ap::Error);
    CHECK(ap::state_dict(state).arrays() == good.arrays());
  };
  ap::StateDict dict = good;
  dict.set("w/exp_avg", std::vector<float>(15, 1.0f));
  dict.set("b/exp_avg", std::vector<double>(7));
  refuses(dict, "state_dict: 'b/exp_avg' is float64, expected float32");
  dict = good;
  dict.set("b/exp_avg_sq", std::vector<float>(8));
  refuses(dict, "state_dict: 'b/exp_avg_sq' has 8 elements, expected 7");
  dict = good;
  dict.set("w/max_exp_avg_sq", std::vector<float>(15));
  refuses(dict, "state_dict: 'w/max_exp_avg_sq' belongs to no tensor or slot of this state");
  dict = good;
  dict.reshape("w/exp_avg", {3, 5});
  refuses(dict, "state_dict: 'w/exp_avg' is of shape {3, 5}, expected {5, 3}");
  refuses(ap::StateDict{}, "state_dict: there is no array 't'");
}

TEST_CASE("two stages of the same type have separate states") {
  const auto rule = ap::chain(ap::Momentum{.mu = 0.9}, ap::Momentum{.mu = 0.5}, ap::Descend{});
  const ap::Layout layout = torch_layout(1);
  auto state = rule.state(ap::Host<double>{}, layout), other = rule.state(ap::Host<double>{}, layout);
  std::vector<double> values(22), gradients(22);
  for (std::uint64_t t = 1; t <= 3; ++t) {
    gradients.assign(22, 1.0);
    rule.step(gradients, values, state, {.t = t, .learning_rate = 0.1});
  }
  const ap::StateDict dict = ap::state_dict(state);
  CHECK(dict.contains("w/momentum_buffer_2"));
  CHECK(dict.get<double>("w/momentum_buffer") != dict.get<double>("w/momentum_buffer_2"));
  ap::load_state_dict(dict, other);
  CHECK(ap::state_dict(other).arrays() == dict.arrays());

  Twice twice;
  CHECK_THROWS_WITH_AS((void)ap::state_dict(twice), "state_dict: two arrays of this state are called 'x'", ap::Error);
  ap::StateDict own;
  std::vector<float> theirs{1, 2};
  own.set("x", std::span(theirs));
  CHECK(own.get<float>("x") == theirs);
}
