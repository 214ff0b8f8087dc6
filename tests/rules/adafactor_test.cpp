#include "../golden/adafactor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "algoperf/schedules/all.hpp"
#include "golden_rows.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::testing::layout_of;
using ap::testing::Training;

namespace {

template <class S, class Rule>
std::vector<S> after_golden_steps(const Rule& rule, const ap::Layout& layout, double rate = golden::learning_rate) {
  Training<Rule, ap::Host<S>> training(rule, layout, {}, ap::testing::golden_gradient);
  training.steps(golden::steps, rate);
  return training.values();
}

template <class S>
void check_golden() {
  std::size_t checked = 0;
  const auto check = [&](const char* name, const auto& rule, double rate = golden::learning_rate) {
    const auto* const row = std::find_if(std::begin(golden::adafactor_rows), std::end(golden::adafactor_rows),
                                         [&](const golden::Row& r) { return std::strcmp(r.rule, name) == 0; });
    REQUIRE(row != std::end(golden::adafactor_rows));
    ap::testing::check_row(name, after_golden_steps<S>(rule, layout_of({{5, 3}, {7}}), rate), row->values);
    ++checked;
  };
  const ap::FactoredRms factored{.least_side = 2};
  const ap::DetachedDecay hundredth{.rate = 0.01, .by = ap::DecayBy::itself};
  check("adafactor", ap::adafactor({.min_dim_size_to_factor = 2}));
  check("adafactor_unfactored", ap::adafactor());
  check("adafactor_decayed", ap::adafactor({.weight_decay = 0.01, .min_dim_size_to_factor = 2}));
  check("adafactor_masked", ap::adafactor({.weight_decay = 0.01, .min_dim_size_to_factor = 2}, ap::decayable));
  check("adafactor_momentum", ap::chain(factored, ap::fuse_measurements(ap::ClipByRms{}, ap::ScaleByParameterRms{}),
                                        ap::Descend{}, ap::Momentum{.mu = 0.9, .dampening = 0.9}, hundredth));
  check("adafactor_absolute", ap::chain(factored, ap::ClipByRms{}, ap::Descend{}));
  check("adafactor_unclipped", ap::chain(factored, ap::Descend{}));
  check("adafactor_options",
        ap::adafactor({.decay_rate = 0.5, .eps = 1e-3, .clipping_threshold = 0.7, .min_dim_size_to_factor = 3}));
  check("adafactor_torch", ap::adafactor_torch());
  check("adafactor_torch_decayed", ap::adafactor_torch({.weight_decay = 0.1}), 0.5);
  check("adafactor_torch_options", ap::adafactor_torch({.beta2_decay = -0.5, .eps1 = 0.3, .eps2 = 0.2, .d = 1.1}));
  check("adafactor_algoperf", ap::adafactor_algoperf());
  check("adafactor_algoperf_decayed", ap::adafactor_algoperf({.beta1 = 0.5, .decay_adam = 0.8, .weight_decay = 0.1}));
  CHECK(checked == std::size(golden::adafactor_rows));

  const auto small = ap::adafactor({.min_dim_size_to_factor = 2});
  ap::testing::check_row("adafactor_wide", after_golden_steps<S>(small, layout_of({{3, 40}})), golden::adafactor_wide);
  const auto stack = after_golden_steps<S>(ap::adafactor_torch(), layout_of({{6, 2, 2}}));
  ap::testing::check_row("adafactor_stack", stack, golden::adafactor_stack);
}

}  // namespace

TEST_CASE("Adafactor matches its golden values in double") { check_golden<double>(); }
TEST_CASE("Adafactor matches its golden values in float") { check_golden<float>(); }

TEST_CASE("FactoredRms keeps row and column averages for a matrix, and one value per element for other tensors") {
  const auto rule = ap::chain(ap::FactoredRms{.least_side = 2}, ap::Descend{});
  ap::Layout layout;
  layout.add({"weight", ap::Kind::weight, {5, 3}});
  layout.add({"bias", ap::Kind::bias, {7}});
  layout.add({"kernel", ap::Kind::conv_weight, {4, 3, 2, 2}});
  layout.add({"thin", ap::Kind::weight, {6, 1}});
  Training<std::remove_cv_t<decltype(rule)>, ap::Host<float>> training(rule, layout);
  training.step(0.1);
  std::vector<std::pair<std::string, std::size_t>> names;
  for (const auto& [name, bytes] : ap::testing::save(training.state)) names.push_back({name, bytes.size() / 4});
  CHECK(names == std::vector<std::pair<std::string, std::size_t>>{{"bias/exp_avg_sq", 7},
                                                                  {"kernel/exp_avg_sq_col", 12},
                                                                  {"kernel/exp_avg_sq_row", 4},
                                                                  {"t", 2},
                                                                  {"thin/exp_avg_sq", 6},
                                                                  {"weight/exp_avg_sq_col", 3},
                                                                  {"weight/exp_avg_sq_row", 5}});
}

TEST_CASE("factors represent a second moment of rank one exactly") {
  // If |g| = a b^T, V = R C^T / mean(R) is exact, and keeping all of V gives the same steps.
  const auto outer = [](std::uint64_t t, const std::vector<double>&, std::vector<double>& g) {
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double a = 1 + static_cast<double>(i / 9), b = 0.3 + static_cast<double>(i % 9);
      g[i] = ((i * 7 + t) % 3 == 0 ? -1 : 1) * a * b / static_cast<double>(t);
    }
  };
  const auto factored = ap::chain(ap::FactoredRms{.least_side = 2}, ap::Descend{});
  const auto whole = ap::chain(ap::FactoredRms{.least_side = 100}, ap::Descend{});
  using Rule = std::remove_cv_t<decltype(factored)>;
  Training<Rule, ap::Host<double>> a(factored, layout_of({{6, 9}}), {}, outer),
      b(whole, layout_of({{6, 9}}), {}, outer);
  a.steps(8, 0.1);
  b.steps(8, 0.1);
  for (std::size_t i = 0; i < 54; ++i) CHECK(a.values()[i] == near(b.values()[i], 1e-13));
}

TEST_CASE("rows and columns with zero gradients do not change, and NaN propagates") {
  const auto check = [](const auto& rule) {
    const ap::Layout layout = layout_of({{4, 5}, {3}}, 1);
    auto state = rule.state(ap::Host<float>{}, layout);
    std::vector<float> values(23, 1.0f), gradients(23);
    for (std::size_t i = 0; i < 20; ++i) gradients[i] = i / 5 == 1 || i % 5 == 2 ? 0.0f : 1.0f;
    for (std::uint64_t t = 1; t <= 3; ++t) {
      auto g = gradients;
      rule.step(g, values, state, {.t = t, .learning_rate = 0.1});
    }
    for (std::size_t i = 0; i < 23; ++i) CHECK((values[i] == 1.0f) == (gradients[i] == 0.0f));
    gradients[3] = std::numeric_limits<float>::quiet_NaN();
    rule.step(gradients, values, state, {.t = 4, .learning_rate = 0.1});
    CHECK(values[3] != values[3]);
    CHECK(values[0] != values[0]);  // in the same row
  };
  check(ap::adafactor({.min_dim_size_to_factor = 2}));
  check(ap::adafactor_torch());
  check(ap::adafactor_algoperf());
}

TEST_CASE("ClipByRms clips per tensor and leaves small updates unchanged") {
  const auto rule = ap::chain(ap::ClipByRms{.max_rms = 2}, ap::Descend{});
  const ap::Layout layout = layout_of({{2}, {2}}, 1);
  auto state = rule.state(ap::Host<double>{}, layout);
  std::vector<double> values(4), gradients{6, 8, -1, 2};  // root mean squares: sqrt(50), less than 2
  rule.step(gradients, values, state, {.t = 1, .learning_rate = 1});
  CHECK(values[0] == near(-6 * 2 / std::sqrt(50.0)));
  CHECK(values[1] == near(-8 * 2 / std::sqrt(50.0)));
  CHECK(values[2] == 1);
  CHECK(values[3] == -2);
}

TEST_CASE("ScaleByParameterRms has a lower bound and measures the parameters before the update") {
  const auto check = [](const auto& rule) {
    const ap::Layout layout = layout_of({{2}, {2}}, 1);
    auto state = rule.state(ap::Host<double>{}, layout);
    std::vector<double> values{3, 4, 0, 0}, gradients{1, -1, 1, -1};
    rule.step(gradients, values, state, {.t = 1, .learning_rate = 0.1});
    CHECK(values[0] == near(3 - 0.1 * std::sqrt(12.5)));
    CHECK(values[1] == near(4 + 0.1 * std::sqrt(12.5)));
    CHECK(values[2] == near(-0.1 * 0.5));
  };
  const ap::ScaleByParameterRms scale{.least = 0.5};
  check(ap::chain(scale, ap::Descend{}));
  check(ap::chain(ap::fuse_measurements(ap::ClipByRms{}, scale), ap::Descend{}));
  check(ap::chain(ap::ClipByRms{}, scale, ap::Descend{}));
}

TEST_CASE("a relative step is at most 1 / sqrt(t) for every learning rate") {
  const auto rule = ap::chain(ap::RelativeStep{}, ap::Descend{});
  const ap::Layout layout = layout_of({{1}}, 1);
  auto state = rule.state(ap::Host<double>{}, layout);
  const auto moved = [&](std::uint64_t t, double rate) {
    std::vector<double> value(1), gradient{-1};
    rule.step(gradient, value, state, {.t = t, .learning_rate = rate});
    return value[0];
  };
  CHECK(moved(1, 0.5) == 0.5);
  CHECK(moved(4, 0.75) == 0.5);
  CHECK(moved(4, 0.25) == 0.25);
  CHECK(moved(4, 0) == 0);
}

TEST_CASE("passes multiply u by the factors of a matrix stage until one stores u") {
  // Momentum with mu = 0 does not change u, but requires the pass to store it.
  const auto check = [](const ap::Layout& layout, const auto&... tail) {
    const auto read = ap::chain(ap::FactoredRms{.least_side = 2}, tail...);
    const auto stored = ap::chain(ap::FactoredRms{.least_side = 2}, ap::Momentum{.mu = 0}, tail...);
    for (const unsigned threads : {1u, 2u}) {
      Training<std::remove_cv_t<decltype(read)>, ap::Host<double>> a(read, layout, ap::Host<double>{threads});
      Training<std::remove_cv_t<decltype(stored)>, ap::Host<double>> b(stored, layout, ap::Host<double>{threads});
      a.steps(3, 0.1);
      b.steps(3, 0.1);
      const std::vector<double> x = a.values(), y = b.values();
      double error = 0;
      for (std::size_t i = 0; i < x.size(); ++i) error = larger_or_nan(error, std::abs(x[i] - y[i]));
      CHECK(error < 1e-14);
    }
  };
  const ap::TrustRatio ratio;
  const ap::ClipByGlobalNorm clip{.max_norm = 2};
  const ap::Descend descend;
  for (const ap::Layout& layout : {layout_of({{5, 3}, {7}, {3, 40}, {2, 2, 9}}),
                                   layout_of({{17, 1}, {2, 8191}, {300, 2}}), layout_of({{1}, {6, 16}, {4, 17}}, 1)}) {
    check(layout, descend);
    check(layout, ap::ClipByRms{.max_rms = 0.5}, descend);
    check(layout, clip, descend);
    check(layout, ap::masked(ap::ClipByRms{.max_rms = 0.5}, ap::decayable), descend);
    check(layout, ratio, ratio, clip, ap::Momentum{}, ratio, descend);
    check(layout, descend, ap::WeightAverage{});
  }
  const ap::Layout matrices = layout_of({{5, 3}, {3, 40}});
  check(matrices, ap::Orthogonalize{}, descend);
  check(matrices, ap::FactoredRms{.least_side = 4}, ap::Orthogonalize{}, ratio, descend);
}

TEST_CASE("the decay of FactoredRms can follow a schedule") {
  const ap::Layout layout = layout_of({{5, 3}, {7}});
  const auto after = [&](const auto& stage) {
    return after_golden_steps<double>(ap::chain(stage, ap::Descend{}), layout);
  };
  const ap::FactoredRms half{.decay = 0.5, .least_side = 2}, other{.decay = 0.9, .least_side = 2};
  CHECK(after(ap::scheduled(other, &ap::FactoredRms::decay, ap::Constant{0.5})) == after(half));
  CHECK(after(other) != after(half));
}

TEST_CASE("describe reports the passes of Adafactor") {
  CHECK(ap::bytes_per_parameter(ap::adafactor()) == 24);
  CHECK(ap::bytes_per_parameter(ap::adafactor_torch()) == 24);
  CHECK(ap::bytes_per_parameter(ap::adafactor_algoperf()) == 28);
  CHECK(ap::bytes_per_parameter(ap::chain(ap::FactoredRms{}, ap::Descend{})) == 16);
  const auto absolute = ap::chain(ap::FactoredRms{}, ap::ClipByRms{}, ap::Descend{});
  CHECK(ap::describe(absolute) ==
        "3 passes, 20 bytes per parameter, 0 slots (0 bytes) of state\n"
        "  pass 1: | FactoredRms on matrices; transform moves 4 bytes: 4 bytes\n"
        "  pass 2: | measure ClipByRms per tensor; reads u: 4 bytes\n"
        "  pass 3: ClipByRms, Descend | apply; reads u p, writes p: 12 bytes\n");
  const auto orthogonal = ap::chain(ap::FactoredRms{}, ap::Orthogonalize{}, ap::Descend{});
  const ap::PassTraffic multiplies = ap::traffic<1>(orthogonal);
  CHECK((multiplies.reads_u && multiplies.writes_u && multiplies.scalars() == 2));
}
