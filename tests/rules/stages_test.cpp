// Tests of guarantees of single stages beyond their formulas.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "training.hpp"

namespace ap = algoperf;

namespace {

// Returns p after one step of a rule from p = 1 with the given gradients.
template <class S = float, class Rule>
std::vector<S> step_from_one(const Rule& rule, std::vector<S> gradients, double rate = 0.5) {
  const ap::Layout layout = ap::testing::layout_of({{gradients.size()}}, 1);
  auto state = rule.state(ap::Host<S>{}, layout);
  std::vector<S> values(gradients.size(), S(1));
  rule.step(gradients, values, state, {.t = 1, .learning_rate = rate});
  return values;
}

}  // namespace

TEST_CASE("Lion steps by the sign only, and NaN propagates") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const auto lion = ap::chain(ap::Lion{}, ap::Descend{});
  const auto p = step_from_one(lion, {1e-30f, -1e-30f, 0.0f, 1e30f, -3e38f, infinity, -infinity, nan});
  CHECK(std::vector<float>(p.begin(), p.end() - 1) == std::vector<float>{0.5f, 1.5f, 1, 0.5f, 1.5f, 0.5f, 1.5f});
  CHECK(std::isnan(p.back()));
  CHECK(step_from_one<double>(lion, {1e-300, -1e-300, 0, 1e300}) == std::vector<double>{0.5, 1.5, 1, 0.5});
}

TEST_CASE("ClipByValue leaves values within the bound unchanged, and NaN propagates") {
  const auto clip = ap::chain(ap::ClipByValue{.max_value = 1}, ap::Descend{});
  const auto p = step_from_one(clip, {0.25f, -0.25f, 7, -7, std::numeric_limits<float>::quiet_NaN()});
  CHECK(std::vector<float>(p.begin(), p.end() - 1) == std::vector<float>{0.875f, 1.125f, 0.5f, 1.5f});
  CHECK(std::isnan(p.back()));
}

TEST_CASE("rules that divide by a root do not move where the gradient is zero") {
  const std::vector<float> zeros(5), ones(5, 1.0f);
  const auto check = [&](const auto& rule) { CHECK(step_from_one(rule, zeros) == ones); };
  check(ap::adagrad());
  check(ap::rmsprop());
  check(ap::centered_rmsprop());
  check(ap::amsgrad());
  check(ap::nadam());
  check(ap::radam());
  check(ap::ademamix());
  check(ap::madam());
  check(ap::lamadam());
  check(ap::diffgrad());
  check(ap::lars());
  check(ap::mlperf_lars());
  check(ap::dgrad());
  check(ap::adagrad_norm());
  check(ap::schedule_free_adamw());
  check(ap::noise_adaptive_nesterov({.steps = 10}));
}

TEST_CASE("a learning rate of zero changes no parameters, also in schedule-free learning") {
  const auto check = [](const auto& rule) { CHECK(step_from_one(rule, {1, -2, 3}, 0) == std::vector<float>{1, 1, 1}); };
  check(ap::schedule_free_sgd());
  check(ap::schedule_free_adamw());
  check(ap::lamadam());
  check(ap::relative_clipped_sgd());
}

TEST_CASE("relative clipping is invariant to the scale of the loss if learning rate and decay scale with it") {
  // (L, lr, decay) -> (c L, lr / c, c decay) leaves the iterates unchanged (Li et al. 2022).
  const auto run = [](double c) {
    const auto rule = ap::relative_clipped_sgd({.weight_decay = 0.1 * c, .c = 0.5});
    const ap::Layout layout = ap::testing::layout_of({{3}}, 1);
    auto state = rule.state(ap::Host<double>{}, layout);
    std::vector<double> p{1, -2, 0.5};
    for (std::uint64_t t = 1; t <= 10; ++t) {
      std::vector<double> g{c * p[0] * p[1], c * (p[0] * p[0] - p[2]), c * 3 * p[2]};
      rule.step(g, p, state, {.t = t, .learning_rate = 0.3 / c});
    }
    return p;
  };
  const auto one = run(1), seven = run(7);
  for (std::size_t i = 0; i < 3; ++i) CHECK(seven[i] == near(one[i], 1e-12));
}

TEST_CASE("noise-adaptive Nesterov is accelerated without noise, and averages noise out") {
  // The loss (x^2 + y^2 / 100) / 2 from (1, 1), with normal noise on gradients. Returns the mean squared distance to 0.
  const auto distance = [](const auto& rule, std::uint64_t steps, double rate, double noise, int seeds) {
    const ap::Layout layout = ap::testing::layout_of({{2}}, 1);
    double sum = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      ap::RandomStream random(ap::RandomKey{static_cast<std::uint64_t>(seed)});
      auto state = rule.state(ap::Host<double>{}, layout);
      std::vector<double> p{1, 1};
      for (std::uint64_t t = 1; t <= steps; ++t) {
        std::vector<double> g{p[0] + noise * random.normal(), p[1] / 100 + noise * random.normal()};
        rule.step(g, p, state, {.t = t, .learning_rate = rate});
      }
      sum += (p[0] * p[0] + p[1] * p[1]) / seeds;
    }
    return sum;
  };
  const auto accelerated = [](std::uint64_t steps, double beta) {
    return ap::noise_adaptive_nesterov({.strong_convexity = 0.01, .beta = beta, .steps = steps});
  };
  // No decay of the steps: e^(-100 / 10) of the condition number 100, where SGD has (1 - 1 / 100)^200 = 0.13.
  CHECK(distance(ap::sgd(), 100, 1, 0, 1) == near(std::pow(0.99, 200), 1e-10));
  CHECK(distance(accelerated(100, 100), 100, 1, 0, 1) < 0.002);
  // The squared distance that noise leaves falls about as 1 / steps. SGD with a constant rate does not get nearer.
  const double brief = distance(accelerated(500, 1), 500, 0.5, 0.05, 100);
  const double lengthy = distance(accelerated(8000, 1), 8000, 0.5, 0.05, 100);
  CHECK(lengthy < brief / 5);
  CHECK(distance(ap::sgd(), 8000, 0.5, 0.05, 100) > 5 * lengthy);
}

TEST_CASE("a state stores its stages' scalars") {
  const auto rule = ap::nadam();
  ap::testing::Training<decltype(ap::nadam()), ap::Host<double>> training(rule, ap::testing::layout_of({{3}}));
  CHECK(training.state.template scalars<0>().mu_product == 1);
  training.steps(2, 0.1);
  double product = 1;
  for (int t = 1; t <= 2; ++t) product *= 0.9 * (1 - 0.5 * std::pow(0.96, t * 4e-3));
  CHECK(training.state.template scalars<0>().mu_product == near(product, 1e-14));
}

TEST_CASE("schedule-free resumes the largest learning rate so far") {
  const auto rule = ap::schedule_free_sgd({.lr_power = 2});
  const ap::Layout layout = ap::testing::layout_of({{5}});
  using Run = ap::testing::Training<decltype(ap::schedule_free_sgd()), ap::Host<double>>;
  Run whole(rule, layout), resumed(rule, layout);
  whole.step(0.4);
  ap::testing::load(resumed.state, ap::testing::save(whole.state));
  resumed.resume(whole);
  for (Run* run : {&whole, &resumed}) run->steps(3, 0.1);
  CHECK(resumed.values() == whole.values());
  CHECK(resumed.evaluation_values() == whole.evaluation_values());
}
