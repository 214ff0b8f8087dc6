// Checks every row of tests/golden/rules.hpp against the recipes and chains that a user would write.
#include "../golden/rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "algoperf/rules/all.hpp"
#include "algoperf/schedules/all.hpp"
#include "golden_rows.hpp"
#include "recipes.hpp"
#include "training.hpp"

namespace ap = algoperf;

namespace {

const golden::Row& row_of(const char* name) {
  for (const golden::Row& row : golden::rules)
    if (std::strcmp(row.rule, name) == 0) return row;
  throw std::runtime_error(std::string("no golden row ") + name);
}

template <class S>
struct RuleGolden {
  const ap::Layout layout = ap::testing::layout_of({{5, 3}, {7}});
  int checked = 0;

  // Runs golden::steps steps of `rule` with the schedule `rate`, and checks `result(training)` against the row `name`.
  template <class Rule, class Rate, class Result>
  void operator()(const char* name, const Rule& rule, const Rate& rate, const Result& result) {
    ap::testing::Training<Rule, ap::Host<S>> training(rule, layout, {}, ap::testing::golden_gradient);
    for (std::uint64_t i = 0; i < golden::steps; ++i) training.step(rate(i));
    ap::testing::check_row(name, result(training), row_of(name).values);
    ++checked;
  }
  template <class Rule>
  void operator()(const ap::testing::GoldenRow<Rule>& row) {
    using ap::testing::GoldenRate;
    const auto rate = [&](std::uint64_t i) {
      const double t = static_cast<double>(i);
      if (row.rate == GoldenRate::warming) return golden::learning_rate * std::min(1.0, (t + 1) / 4);
      if (row.rate == GoldenRate::falling) return golden::learning_rate * (1 - t / 20);
      return golden::learning_rate;
    };
    (*this)(row.name, row.rule, rate, [](auto& training) {
      if constexpr (Rule::has_evaluation_values)
        return training.evaluation_values();
      else
        return training.values();
    });
  }
  template <class Rule>
  void operator()(const char* name, const Rule& rule, double rate = golden::learning_rate) {
    (*this)(name, rule, ap::Constant{rate}, [](auto& training) { return training.values(); });
  }
};

template <class S>
void check_rules() {
  RuleGolden<S> check;
  ap::testing::for_each_recipe(
      [&](const auto& recipe) { std::apply([&](const auto&... row) { (check(row), ...); }, recipe.golden); });

  check("dgrad", ap::dgrad());
  check("adagrad_norm", ap::adagrad_norm());
  check("relative_clipped_sgd", ap::relative_clipped_sgd({.c = 4e-4}));

  const auto values = [](auto& training) { return training.values(); };
  const auto averages = [](auto& training) { return training.evaluation_values(); };
  const ap::Linear falling{.from = golden::learning_rate, .to = 0, .steps = 20};
  const auto detached = [](ap::DecayBy by) {
    return ap::chain(ap::Adam{}, ap::Descend{},
                     ap::DetachedDecay{.rate = 0.1, .peak = golden::learning_rate, .by = by});
  };
  check("decay_by_schedule", detached(ap::DecayBy::schedule), falling, values);
  check("decay_by_rate_squared", detached(ap::DecayBy::rate_squared), falling, values);
  check("polyak", ap::chain(ap::Descend{}, ap::PolyakAverage{.start = 3}), ap::Constant{golden::learning_rate},
        averages);

  check("lamb", ap::lamb({.weight_decay = 0.1}));
  const ap::DecayedWeights tenth{.rate = 0.1};
  const ap::Adam without{.eps = 1e-6, .bias_correction = ap::BiasCorrection::off}, with{.eps = 1e-6};
  check("lamb_without_correction", ap::chain(without, tenth, ap::TrustRatio{}, ap::Descend{}));
  check("lamb_bounded", ap::chain(with, tenth, ap::TrustRatio{.least = 0.3, .most = 0.5}, ap::Descend{}));
  check("lamb_decay_outside", ap::chain(with, ap::TrustRatio{}, tenth, ap::Descend{}));
  check("lars", ap::lars({.weight_decay = 0.1, .coefficient = 0.01}));
  check("mlperf_lars", ap::mlperf_lars({.weight_decay = 0.1, .coefficient = 0.01}, ap::decayable));

  const ap::ClipByGlobalNorm clip{.max_norm = 0.5};
  check("clip_sgd", ap::chain(clip, ap::Descend{}));
  check("clip_value", ap::chain(ap::ClipByValue{.max_value = 0.2}, ap::Descend{}));
  check("clip_norm_torch", ap::chain(ap::ClipByGlobalNorm{.max_norm = 0.5, .eps = 1e-6}, ap::Descend{}));
  check("clip_sgd_some_steps", ap::chain(ap::ClipByGlobalNorm{.max_norm = 1.4}, ap::Descend{}));
  check("clip_adamw", ap::chain(clip, ap::Adam{}, ap::DecayedWeights{.rate = 0.1}, ap::Descend{}));
  check("clip_lamb",
        ap::chain(clip, ap::Adam{.eps = 1e-6}, ap::DecayedWeights{.rate = 0.1}, ap::TrustRatio{}, ap::Descend{}));

  check("muon", ap::partition(ap::matrices, ap::muon(), ap::otherwise, ap::adamw({.weight_decay = 0.1})));
  check("ema", ap::chain(ap::Descend{}, ap::WeightAverage{.decay = 0.9}), ap::Constant{golden::learning_rate},
        averages);
  check("sam", ap::sam(ap::momentum(), {.rho = 0.05}));
  check("adamw_masked",
        ap::chain(ap::Adam{}, ap::masked(ap::DecayedWeights{.rate = 0.1}, ap::decayable), ap::Descend{}));
  check("adamw_cosine", ap::adamw({.weight_decay = 0.1}), ap::Cosine{.peak = 0.05, .floor = 0.005, .steps = 8}, values);
  const ap::Linear decay{.from = 0.1, .to = 0, .steps = 10};
  check("adamw_scheduled_decay",
        ap::chain(ap::Adam{}, ap::scheduled(ap::DecayedWeights{}, &ap::DecayedWeights::rate, decay), ap::Descend{}));

  CHECK(check.checked == std::size(golden::rules));

  for (const golden::MatrixRow& row : golden::matrix_rules) {
    const bool tall = std::strcmp(row.rule, "muon_tall") == 0;
    const ap::Shape shape = tall ? ap::Shape{8, 3} : ap::Shape{3, 8};
    ap::testing::Training<decltype(ap::muon()), ap::Host<S>> training(ap::muon(), ap::testing::layout_of({shape}), {},
                                                                      ap::testing::golden_gradient);
    training.steps(golden::steps, golden::learning_rate);
    ap::testing::check_row(row.rule, training.values(), row.values);
  }
}

}  // namespace

TEST_CASE("every rule reproduces its golden values in double") { check_rules<double>(); }
TEST_CASE("every rule reproduces its golden values in float") { check_rules<float>(); }
