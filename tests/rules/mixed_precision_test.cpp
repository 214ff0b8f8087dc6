#include "algoperf/rules/wrappers/mixed_precision.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "algoperf/rules/wrappers/apply_if_finite.hpp"
#include "training.hpp"

namespace ap = algoperf;
using ap::bfloat16, ap::float16;

namespace {

template <class Half>
std::vector<Half> halves(const std::vector<float>& x) {
  std::vector<Half> h(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) h[i] = Half(x[i]);
  return h;
}
template <class Half>
std::vector<float> floats(const std::vector<Half>& h) {
  std::vector<float> x(h.size());
  for (std::size_t i = 0; i < h.size(); ++i) x[i] = static_cast<float>(h[i]);
  return x;
}
template <class Half>
std::vector<std::uint16_t> bits(const std::vector<Half>& h) {
  std::vector<std::uint16_t> b(h.size());
  for (std::size_t i = 0; i < h.size(); ++i) b[i] = h[i].bits;
  return b;
}

// Returns 16-bit gradients for step t.
template <class Half>
std::vector<Half> gradients(std::uint64_t t, std::size_t n, float scale = 1) {
  std::vector<float> g(n);
  for (std::size_t i = 0; i < n; ++i)
    g[i] = scale * static_cast<float>(static_cast<double>((i * 53 + t * 29 + 7) % 97) / 97 - 0.45);
  return halves<Half>(g);
}
std::vector<float> first_values(std::size_t n) {
  std::vector<float> p(n);
  for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<float>(ap::testing::start_value(i));
  return p;
}

const std::size_t sizes[] = {1, 15, 16, 17, 1000, 20000};

// Checks that ten steps in mixed precision equal ten steps in float on the same gradients, with parameters rounded
// after each step.
template <class Half, class Rule>
void is_the_rule_in_float(const Rule& rule, unsigned threads = 1) {
  for (const std::size_t n : sizes) {
    const ap::Layout layout = ap::testing::layout_of({{n}}, 1);
    const ap::Host<float> host{.threads = threads};
    const auto mixed = ap::mixed_precision<Half>(rule);
    auto state = mixed.state(host, layout);
    auto plain = rule.state(host, layout);
    std::vector<Half> values = halves<Half>(first_values(n));
    std::vector<float> masters = floats(values);
    for (std::uint64_t t = 1; t <= 10; ++t) {
      const std::vector<Half> g = gradients<Half>(t, n);
      std::vector<float> wide = floats(g);
      mixed.step(g, std::span(values), state, {.learning_rate = 0.05});
      rule.step(wide, masters, plain, {.t = t, .learning_rate = 0.05});
    }
    CHECK(bits(values) == bits(halves<Half>(masters)));
    CHECK(state.t() == 10);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a rule in mixed precision equals the rule in float, rounded", Half, bfloat16, float16) {
  is_the_rule_in_float<Half>(ap::adamw());
  is_the_rule_in_float<Half>(ap::adamw(), 2);
  is_the_rule_in_float<Half>(ap::momentum({.weight_decay = 0.1}));
  is_the_rule_in_float<Half>(ap::lamb());
  is_the_rule_in_float<Half>(ap::lars());  // measures without storing u
  is_the_rule_in_float<Half>(ap::chain(ap::ClipByGlobalNorm{}, ap::Adam{}, ap::Descend{}));
  is_the_rule_in_float<Half>(ap::partition(ap::matrices, ap::sgd(), ap::otherwise, ap::lion()));
}

TEST_CASE("element rules need no float gradient arena, rules that store u do") {
  CHECK(!decltype(ap::adamw())::stores_updates);
  CHECK(!decltype(ap::lars())::stores_updates);
  CHECK(decltype(ap::lamb())::stores_updates);
  CHECK(decltype(ap::muon())::stores_updates);
}

TEST_CASE("the loss scale divides the gradients") {
  const std::size_t n = 100;
  const ap::Layout layout = ap::testing::layout_of({{n}}, 1);
  const auto scaled = ap::mixed_precision<float16>(ap::sgd(), ap::DynamicLossScale{.start = 256, .interval = 3});
  const auto plain = ap::mixed_precision<float16>(ap::sgd());
  auto a = scaled.state(ap::Host<float>{}, layout);
  auto b = plain.state(ap::Host<float>{}, layout);
  std::vector<float16> p = halves<float16>(first_values(n)), q = p;
  for (std::uint64_t t = 1; t <= 7; ++t) {
    CHECK(a.loss_scale() == (t <= 3 ? 256 : t <= 6 ? 512 : 1024));
    scaled.step(gradients<float16>(t, n, static_cast<float>(a.loss_scale())), std::span(p), a, {.learning_rate = 0.05});
    plain.step(gradients<float16>(t, n), std::span(q), b, {.learning_rate = 0.05});
  }
  for (std::size_t i = 0; i < n; ++i) CHECK(static_cast<float>(p[i]) == near(static_cast<float>(q[i]), 2e-3));
}

TEST_CASE("a gradient that is not finite changes no state, including the step count") {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")})
    for (const std::size_t place : {std::size_t{0}, std::size_t{17}, std::size_t{99}}) {
      const std::size_t n = 100;
      const ap::Layout layout = ap::testing::layout_of({{n}}, 1);
      const auto rule = ap::mixed_precision<float16>(ap::nadam(), ap::DynamicLossScale{.start = 256});
      auto state = rule.state(ap::Host<float>{}, layout);
      std::vector<float16> p = halves<float16>(first_values(n));
      for (std::uint64_t t = 1; t <= 3; ++t)
        rule.step(gradients<float16>(t, n), std::span(p), state, {.learning_rate = 0.05});
      const auto before = bits(p);
      auto saved = ap::testing::save(state);
      std::vector<float16> g = gradients<float16>(4, n);
      g[place] = float16(bad);
      rule.step(g, std::span(p), state, {.learning_rate = 0.05});
      CHECK(bits(p) == before);
      CHECK(state.t() == 3);
      CHECK(state.skipped_steps() == 1);
      CHECK(state.loss_scale() == 128);
      auto after = ap::testing::save(state);
      for (const char* const changes : {"loss_scale", "skipped", "steps_since_change"}) {
        saved.erase(changes);
        after.erase(changes);
      }
      CHECK(after == saved);
      rule.step(gradients<float16>(5, n), std::span(p), state, {.learning_rate = 0.05});
      CHECK(state.t() == 4);
      CHECK(state.skipped_steps() == 1);
    }
}

TEST_CASE("a loss scale that falls many times remains usable") {
  const ap::Layout layout = ap::testing::layout_of({{1}}, 1);
  const auto rule = ap::mixed_precision<float16>(ap::sgd(), ap::DynamicLossScale{});
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<float16> p{float16(1.0f)}, bad{float16(std::numeric_limits<float>::infinity())}, good{float16(0.0f)};
  for (int i = 0; i < 400; ++i) rule.step(bad, std::span(p), state, {.learning_rate = 0.1});
  CHECK(state.skipped_steps() == 400);
  CHECK(state.loss_scale() == 1e-30);
  rule.step(good, std::span(p), state, {.learning_rate = 0.1});
  CHECK(state.t() == 1);
  CHECK(static_cast<float>(p[0]) == 1);
}

TEST_CASE("a loss scale grows after `interval` finite gradients in a row, up to 1e30") {
  double scale = 8;
  std::uint64_t quiet = 0;
  const ap::DynamicLossScale scaling{.growth = 4, .backoff = 0.5, .interval = 3};
  const auto after = [&](int finite, bool then_bad) {
    for (int i = 0; i < finite; ++i) scaling.move(true, scale, quiet);
    if (then_bad) scaling.move(false, scale, quiet);
    return scale;
  };
  CHECK(after(2, false) == 8);
  CHECK(after(1, false) == 32);
  CHECK(after(2, true) == 16);  // and the count starts anew
  CHECK(after(2, false) == 16);
  CHECK(after(1, false) == 64);
  scale = 5e29;
  CHECK(after(3, false) == 1e30);
  CHECK(after(30, false) == 1e30);
  CHECK(std::isfinite(static_cast<float>(scale)));
}

TEST_CASE("stochastic rounding is correct on average where nearest rounding does not move") {
  const std::size_t n = 4096;
  const ap::Layout layout = ap::testing::layout_of({{n}}, 1);
  const auto mean_after = [&](ap::Rounding rounding, double& spread) {
    const auto rule = ap::mixed_precision<bfloat16>(ap::sgd(), {.rounding = rounding, .seed = 7});
    auto state = rule.state(ap::Host<float>{}, layout);
    std::vector<bfloat16> p(n, bfloat16(1.0f)), g(n, bfloat16(-1.0f));
    rule.step(g, std::span(p), state, {.learning_rate = 1e-3});  // 1.001; bfloat16 has 1 and 1.0078
    double mean = 0;
    spread = 0;
    for (const bfloat16 x : p) mean += static_cast<double>(static_cast<float>(x)) / static_cast<double>(n);
    for (const bfloat16 x : p) spread += std::abs(static_cast<double>(static_cast<float>(x)) - mean);
    return mean;
  };
  double spread = 0;
  CHECK(mean_after(ap::Rounding::nearest, spread) == 1);
  CHECK(mean_after(ap::Rounding::stochastic, spread) == near(1.001, 2e-4));
  CHECK(spread > 0);
}

TEST_CASE("a mixed-precision state resumes bit for bit, and invalid options throw") {
  const ap::Layout layout = ap::testing::layout_of({{40}, {8, 3}}, 1);
  const std::size_t n = layout.size();
  const auto rule = ap::mixed_precision<bfloat16>(ap::adamw(), {.rounding = ap::Rounding::stochastic, .seed = 3});
  auto whole = rule.state(ap::Host<float>{}, layout), second = whole;
  std::vector<bfloat16> p = halves<bfloat16>(first_values(n)), q;
  for (std::uint64_t t = 1; t <= 10; ++t) {
    if (t == 6) {
      ap::testing::load(second, ap::testing::save(whole));
      q = p;
    }
    rule.step(gradients<bfloat16>(t, n), std::span(p), whole, {.learning_rate = 0.05});
    if (t >= 6) rule.step(gradients<bfloat16>(t, n), std::span(q), second, {.learning_rate = 0.05});
  }
  CHECK(bits(q) == bits(p));
  CHECK(ap::testing::save(whole) == ap::testing::save(second));

  const auto by_chance = ap::mixed_precision<float16>(ap::sgd(), {.rounding = ap::Rounding::stochastic});
  CHECK_THROWS_WITH_AS((void)by_chance.state(ap::Host<float>{}, layout),
                       "mixed_precision: stochastic rounding is available for bfloat16 only", ap::Error);
  const auto growing = ap::mixed_precision<float16>(ap::sgd(), ap::DynamicLossScale{.backoff = 2});
  CHECK_THROWS_WITH_AS((void)growing.state(ap::Host<float>{}, layout),
                       "DynamicLossScale: backoff is 2, expected (0, 1]", ap::Error);
}

TEST_CASE("a state saved with a loss scale can resume without one") {
  const ap::Layout layout = ap::testing::layout_of({{30}}, 1);
  const auto scaled = ap::mixed_precision<bfloat16>(ap::adamw(), ap::DynamicLossScale{.start = 4});
  const auto plain = ap::mixed_precision<bfloat16>(ap::adamw());
  auto first = scaled.state(ap::Host<float>{}, layout);
  auto second = plain.state(ap::Host<float>{}, layout);
  std::vector<bfloat16> p = halves<bfloat16>(first_values(30));
  scaled.step(halves<bfloat16>(std::vector<float>(30, std::nanf(""))), std::span(p), first, {.learning_rate = 0.05});
  scaled.step(gradients<bfloat16>(1, 30, 2), std::span(p), first, {.learning_rate = 0.05});
  ap::testing::load(second, ap::testing::save(first));
  CHECK(second.t() == 1);
  CHECK(second.loss_scale() == 1);
  CHECK(second.skipped_steps() == 0);
  std::vector<bfloat16> q = p;
  scaled.step(gradients<bfloat16>(2, 30, 2), std::span(p), first, {.learning_rate = 0.05});
  plain.step(gradients<bfloat16>(2, 30), std::span(q), second, {.learning_rate = 0.05});
  CHECK(bits(p) == bits(q));
  CHECK(second.t() == 2);
}

TEST_CASE("a step that throws is not counted") {
  const ap::Layout layout = ap::testing::layout_of({{4}}, 1);
  std::vector<float> g(4, 1.0f), p = g;
  const auto rule = ap::apply_if_finite(ap::adamw());
  auto state = rule.state(ap::Host<float>{}, layout);
  CHECK_THROWS_WITH_AS(rule.step(g, p, state, {.t = 1}),
                       "step: learning_rate is nan, expected a finite number of at least 0", ap::Error);
  CHECK_THROWS_WITH_AS(rule.step(g, p, state, {.t = 1, .learning_rate = -1}),
                       "step: learning_rate is -1, expected a finite number of at least 0", ap::Error);
  CHECK(state.t() == 0);
  const auto mixed = ap::mixed_precision<bfloat16>(ap::apply_if_finite(ap::sgd()), ap::DynamicLossScale{.start = 1});
  auto both = mixed.state(ap::Host<float>{}, layout);
  std::vector<bfloat16> h(4, bfloat16(1.0f)), q = h;
  CHECK_THROWS_AS(mixed.step(h, std::span(q), both, {}), ap::Error);
  CHECK(both.t() == 0);
  mixed.step(h, std::span(q), both, {.learning_rate = 0.5});
  CHECK(both.t() == 1);
  CHECK(static_cast<float>(q[0]) == 0.5f);
}

TEST_CASE("all_finite finds a non-finite element at any position, with any number of threads") {
  for (const std::size_t n : {std::size_t{1}, std::size_t{8192}, std::size_t{20001}})
    for (const unsigned threads : {1u, 3u})
      for (const std::size_t place : {std::size_t{0}, n / 2, n - 1}) {
        std::vector<float> x(n, 3e38f);
        CHECK(ap::detail::all_finite(threads, n, x.data()));
        x[place] = -std::numeric_limits<float>::infinity();
        CHECK(!ap::detail::all_finite(threads, n, x.data()));
        std::vector<double> y(n, 1e308);
        CHECK(ap::detail::all_finite(threads, n, y.data()));
        y[place] = std::nan("");
        CHECK(!ap::detail::all_finite(threads, n, y.data()));
      }
}

TEST_CASE("apply_if_finite skips steps entirely") {
  const auto rule = ap::apply_if_finite(ap::nadam());
  const ap::Layout layout = ap::testing::layout_of({{5}, {3}}, 1);
  auto state = rule.state(ap::Host<float>{}, layout);
  auto plain = ap::nadam().state(ap::Host<float>{}, layout);
  std::vector<float> p(8, 1.0f), q = p;
  for (std::uint64_t t = 1; t <= 6; ++t) {
    std::vector<float> g = floats(gradients<float16>(t, 8)), h = g;
    const auto before = ap::testing::save(state.rule);
    if (t % 2 == 0) g[t] = t == 2 ? std::nanf("") : -std::numeric_limits<float>::infinity();
    rule.step(g, p, state, {.t = t, .learning_rate = 0.1});
    if (t % 2 == 0)
      CHECK(ap::testing::save(state.rule) == before);
    else
      ap::nadam().step(h, q, plain, {.t = (t + 1) / 2, .learning_rate = 0.1});
    CHECK(p == q);
  }
  CHECK(state.t() == 3);
  CHECK(state.skipped_steps() == 3);
}

TEST_CASE("a state of apply_if_finite resumes with its counts") {
  const auto rule = ap::apply_if_finite(ap::nadam());
  const ap::Layout layout = ap::testing::layout_of({{5}}, 1);
  auto whole = rule.state(ap::Host<float>{}, layout), resumed = whole;
  std::vector<float> p(5, 1.0f), g(5);
  for (std::uint64_t t = 1; t <= 5; ++t) {
    g.assign(5, t == 3 ? std::nanf("") : 0.5f);
    rule.step(g, p, whole, {.t = t, .learning_rate = 0.1});
  }
  ap::testing::load(resumed, ap::testing::save(whole));
  CHECK(resumed.t() == 4);
  CHECK(resumed.skipped_steps() == 1);
  std::vector<float> q = p;
  g.assign(5, 0.5f);
  std::vector<float> h = g;
  rule.step(g, p, whole, {.t = 6, .learning_rate = 0.1});
  rule.step(h, q, resumed, {.t = 6, .learning_rate = 0.1});
  CHECK(p == q);
  CHECK(ap::testing::save(resumed) == ap::testing::save(whole));
}

TEST_CASE("describe reports the cost of mixed precision") {
  CHECK(
      ap::describe(ap::mixed_precision<ap::bfloat16>(ap::sgd())) ==
      "bfloat16 parameters and gradients, 4 bytes of master per parameter; then, with the same traffic as in float,\n" +
          ap::describe(ap::sgd()));
  const auto scaled = ap::mixed_precision<ap::float16>(ap::lamb(), ap::DynamicLossScale{});
  CHECK(ap::describe(scaled) ==
        "float16 parameters and gradients, 4 bytes of master per parameter; widened and narrowed, 12 bytes per "
        "parameter, 4 "
        "bytes of scratch; checked, 2 bytes per parameter; then, with the same traffic as in float,\n" +
            ap::describe(ap::lamb()));
  CHECK(ap::describe(ap::apply_if_finite(ap::sgd())) ==
        "gradients checked, 4 bytes per parameter; then\n" + ap::describe(ap::sgd()));
}

TEST_CASE("before the first step, evaluation values are the parameters") {
  const auto rule = ap::mixed_precision<bfloat16>(ap::chain(ap::Descend{}, ap::WeightAverage{}));
  const ap::Layout layout = ap::testing::layout_of({{3}}, 1);
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<bfloat16> values{bfloat16(1.0f), bfloat16(2.0f), bfloat16(-3.0f)}, gradients(3, bfloat16(0.5f));
  std::vector<float> out(3);
  rule.evaluation_values(std::span<const bfloat16>(values), state, out.data());
  CHECK(out == std::vector<float>{1, 2, -3});
  rule.step(std::span<const bfloat16>(gradients), std::span(values), state, {.learning_rate = 1});
  rule.evaluation_values(std::span<const bfloat16>(values), state, out.data());
  CHECK(out == std::vector<float>{0.5, 1.5, -3.5});
}

TEST_CASE("within sam, apply_if_finite checks the gradient that the rule steps with") {
  const auto rule = ap::sam(ap::apply_if_finite(ap::sgd()));
  const ap::Layout layout = ap::testing::layout_of({{2}}, 1);
  auto state = rule.state(ap::Host<float>{}, layout);
  std::vector<float> values{1, 2}, gradients{1, 1};
  const auto fails = [&] { gradients.assign(2, std::numeric_limits<float>::infinity()); };
  rule.step(gradients, values, state, {.t = 1, .learning_rate = 0.1}, fails);
  CHECK(values == std::vector<float>{1, 2});
  gradients.assign(2, 1.0f);
  rule.step(gradients, values, state, {.t = 2, .learning_rate = 0.1}, [&] { gradients.assign(2, 1.0f); });
  CHECK(values[0] == near(0.9f));
}
