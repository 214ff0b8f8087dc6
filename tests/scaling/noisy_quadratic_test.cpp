#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/scaling/all.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "../support/data_path.hpp"
#include "../support/near.hpp"

using namespace algoperf;

namespace {

constexpr double missed = HUGE_VAL;

// The notebook's SGD: its fixed point is c / (1 - a + 1e-8) instead of c / (1 - a).
struct NotebookSgd : NqmSgd {
  AffineMap<1> map(const NqmDirection& direction) const {
    AffineMap<1> map = NqmSgd::map(direction);
    const double decline = 1 - map.a[0][0];
    map.b[0] *= decline / (decline + 1e-8);
    return map;
  }
};

// The rows of a table of comma-separated values, without its header; none, with a message, if there is no such file.
std::vector<std::vector<double>> table(const std::string& name) {
  std::ifstream file(data_path("batch-science/noisy-quadratic/" + name));
  std::vector<std::vector<double>> rows;
  std::string line, cell;
  for (std::getline(file, line); std::getline(file, line);) {
    rows.emplace_back();
    for (std::istringstream cells(line); std::getline(cells, cell, ',');) rows.back().push_back(std::stod(cell));
  }
  return rows;
}

// A row of a table of steps. Its step is the one before the step that reaches the target.
template <class Rule>
struct Row {
  NqmGoal goal;
  NoisyQuadratic model;
  std::uint64_t steps;
  Rule rule;

  explicit Row(const std::vector<double>& cells)
      : goal{.target = cells.at(0)},
        model{.preconditioning = cells.at(1), .batch = cells.at(2)},
        steps(static_cast<std::uint64_t>(cells.at(3))) {
    rule.rate = nearest(Rule::rates(), cells.at(4));
    if constexpr (NqmRuleOfTwo<Rule>) rule.*Rule::second = nearest(Rule::seconds(), cells.at(5));
  }

  // The file has ten digits, too few for a momentum near 1.
  static double nearest(const std::vector<double>& grid, double x) {
    double best = grid[0];
    for (const double y : grid)
      if (std::fabs(y - x) < std::fabs(best - x)) best = y;
    CHECK(best == near(x, 1e-9));
    return best;
  }

  // Checks that the row's rule crosses the target at the row's step.
  void check_crossing() const {
    CHECK(model.loss(rule, steps) >= goal.target);
    CHECK(model.loss(rule, steps + 1) < goal.target);
  }
  bool found_by(const NqmBest<Rule>& best) const {
    if constexpr (NqmRuleOfTwo<Rule>)
      if (best.rule.*Rule::second != rule.*Rule::second) return false;
    return best.steps == static_cast<double>(steps + 1) && best.rule.rate == rule.rate;
  }
};

template <class Rule>
double fewest(NoisyQuadratic model, Rule rule = {}, double target = 0.01) {
  return model.fewest_steps(rule, {.target = target}).steps;
}

}  // namespace

TEST_CASE("noisy quadratic: the bins of the spectrum") {
  const auto bins = NoisyQuadratic{}.spectrum();
  double count = 0, loss = 0;
  for (const auto& bin : bins) count += bin.count, loss += 0.5 * bin.curvature * bin.count;
  CHECK(count == 10000);
  CHECK(loss == near(4.7024956, 1e-8));
  CHECK(NoisyQuadratic{}.loss(NqmMomentum{}, 0) == near(loss, 1e-14));

  const auto rows = table("nqm_bins.csv");
  if (rows.empty()) return;
  REQUIRE(rows.size() == bins.size());
  for (std::size_t i = 0; i < bins.size(); ++i) {
    CHECK(bins[i].curvature == near(rows[i].at(1), 1e-14));
    CHECK(bins[i].count == rows[i].at(2));
  }
}

TEST_CASE("noisy quadratic: the published steps of SGD, all rows") {
  std::size_t equal = 0;
  double longest = 1;
  const auto rows = table("nqm_sgd_steps.csv");
  for (const auto& cells : rows) {
    CAPTURE(cells);
    const Row<NotebookSgd> row(cells);
    row.check_crossing();
    CHECK(row.found_by(row.model.fewest_steps(NotebookSgd{}, row.goal)));
    // Without the notebook's 1e-8: the same rate, and as many steps or a few more.
    const NqmBest<NqmSgd> best = row.model.fewest_steps(NqmSgd{}, row.goal);
    CHECK(best.rule.rate == row.rule.rate);
    CHECK(best.steps > static_cast<double>(row.steps));
    equal += best.steps == static_cast<double>(row.steps + 1);
    longest = std::fmax(longest, best.steps / static_cast<double>(row.steps + 1));
  }
  if (rows.empty()) return;
  CHECK(rows.size() == 160);
  CHECK(equal >= 116);
  CHECK(longest < 1.0032);
}

TEST_CASE_TEMPLATE("noisy quadratic: the published steps of momentum and of averages", Rule, NqmMomentum, NqmEma) {
  constexpr bool is_momentum = std::is_same_v<Rule, NqmMomentum>;
  const auto rows = table(is_momentum ? "nqm_momentum_steps.csv" : "nqm_ema_steps.csv");
  for (const auto& cells : rows) {
    CAPTURE(cells);
    const Row<Rule> row(cells);
    row.check_crossing();
    const double batch = row.model.batch;
    if (batch != 4 && batch != 1024 && batch != 1048576) continue;  // searches take a while
    const NqmBest<Rule> best = row.model.fewest_steps(Rule{}, row.goal);
    if (is_momentum && row.model.preconditioning == 0.25 && batch == 1048576)
      CHECK(best.steps ==
            static_cast<double>(row.steps - 1));  // the loss oscillates about the target: an earlier crossing
    else
      CHECK(row.found_by(best));
  }
  if (!rows.empty()) CHECK(rows.size() == 40);
}

TEST_CASE("noisy quadratic: three regimes of SGD") {
  const auto steps = [](double batch, double target = 0.01) {
    return fewest(NoisyQuadratic{.batch = batch}, NqmSgd{}, target);
  };
  CHECK(steps(4) / steps(8) == near(2, 0.01));               // perfect scaling
  CHECK(steps(512) / steps(1024) == near(1.41, 0.01));       // diminishing returns
  CHECK(steps(1 << 20) / steps(1 << 21) == near(1, 0.001));  // plateau
  CHECK(steps(1024, 0.1) < 1.1 * steps(1 << 20, 0.1));       // a lower target scales further
  CHECK(steps(1024, 0.001) > 7 * steps(1 << 20, 0.001));
  for (const double batch : {4, 256, 1 << 20}) CHECK(steps(batch) >= 10000 / (2 * 0.01 * batch));
}

TEST_CASE("noisy quadratic: the best rate of SGD grows with the batch, up to stability") {
  const auto rate = [](double batch) { return NoisyQuadratic{.batch = batch}.fewest_steps(NqmSgd{}).rule.rate; };
  const double step = std::pow(10, 5.5 / 99);  // ratio of neighbouring grid rates
  for (const double batch : {4, 16, 64}) CHECK(rate(4 * batch) / rate(batch) == near(4, step - 1));
  CHECK(rate(1 << 14) == rate(1 << 20));
  CHECK(rate(1 << 20) < 2);
  CHECK(rate(1 << 20) * step > 2);
}

TEST_CASE("noisy quadratic: momentum helps large batches, averages small ones") {
  const NoisyQuadratic small{.batch = 4}, large{.batch = 1 << 20};
  CHECK(fewest(large, NqmSgd{}) == 7269);
  CHECK(fewest(large, NqmMomentum{}) == 179);
  CHECK(fewest(small, NqmMomentum{}) > 0.88 * fewest(small, NqmSgd{}));
  CHECK(fewest(small, NqmEma{}) < 0.16 * fewest(small, NqmSgd{}));
  CHECK(fewest(large, NqmEma{}) == near(fewest(large, NqmSgd{}), 0.012));
}

TEST_CASE("noisy quadratic: preconditioning helps every batch, and large ones most") {
  for (const double batch : {4, 64, 1024, 1 << 14, 1 << 20})
    for (const double gamma : {0.25, 0.5, 0.75}) {
      CAPTURE(batch);
      CAPTURE(gamma);
      CHECK(fewest<NqmSgd>({.preconditioning = gamma, .batch = batch}) <
            fewest<NqmSgd>({.preconditioning = gamma - 0.25, .batch = batch}));
    }
  const auto gain = [](double gamma) {  // from a thousandfold batch
    return fewest<NqmSgd>({.preconditioning = gamma, .batch = 64}) /
           fewest<NqmSgd>({.preconditioning = gamma, .batch = 65536});
  };
  CHECK(gain(0) < gain(0.25));
  CHECK(gain(0.25) < gain(0.5));
  CHECK(gain(0.5) < gain(0.75));
}

TEST_CASE("noisy quadratic: the search by doubling agrees with single steps") {
  const NoisyQuadratic model{.dimensions = 50, .bins = 20, .preconditioning = 0.3, .batch = 70};
  const auto check = [&](const auto& rule) {
    // The reference: one step at a time, bin by bin.
    std::vector<double> losses;
    for (std::uint64_t t = 0; t <= 400; ++t) {
      double loss = 0;
      for (const auto& bin : model.spectrum()) {
        const auto map = rule.map({bin.curvature, std::pow(bin.curvature, -0.3), bin.curvature / 70});
        auto moments = rule.start();
        for (std::uint64_t i = 0; i < t; ++i) moments = map(moments);
        loss += 0.5 * bin.curvature * bin.count * rule.square(moments);
      }
      losses.push_back(loss);
      CHECK(model.loss(rule, t) == near(loss, 1e-12));
    }
    for (const double target : {3.0, 2.0, 1.0, 0.5, 0.25, 0.1, 0.01}) {
      std::size_t first = 0;
      while (first < losses.size() && losses[first] >= target) ++first;
      const double expected = first < losses.size() ? static_cast<double>(first) : missed;
      CAPTURE(target);
      CHECK(model.steps_to_target(rule, {.target = target, .limit = 400}) == expected);
      if (first == 0 || expected == missed) continue;
      CHECK(model.steps_to_target(rule, {.target = target, .limit = first}) == expected);
      if (first > 1) CHECK(model.steps_to_target(rule, {.target = target, .limit = first - 1}) == missed);
    }
  };
  check(NqmSgd{.rate = 0.2});
  check(NqmMomentum{.rate = 0.02, .mu = 0.5});
  check(NqmEma{.rate = 0.2, .decay = 0.8});
  CHECK(model.steps_to_target(NqmSgd{.rate = 2.5}) == missed);              // diverges
  CHECK(model.steps_to_target(NqmSgd{.rate = 0.2}, {.target = 100}) == 0);  // reached at the start
}

TEST_CASE("noisy quadratic: a custom grid") {
  const NoisyQuadratic model{.batch = 1024};
  const auto one = model.fewest_steps(NqmMomentum{}, {}, {.rates = {0.01}, .seconds = {0.99}});
  CHECK(one.steps == model.steps_to_target(NqmMomentum{.rate = 0.01, .mu = 0.99}));
  CHECK(one.rule.mu == 0.99);
  const auto none = model.fewest_steps(NqmSgd{}, {}, {.rates = {2.5, 3}});
  CHECK(none.steps == missed);
  const auto tie = model.fewest_steps(NqmSgd{}, {.target = 100}, {.rates = {0.3, 0.2}});
  CHECK(tie.steps == 0);
  CHECK(tie.rule.rate == 0.3);
  // Without momentum or decay both rules are SGD.
  const auto plain = model.fewest_steps(NqmSgd{});
  const NqmGrid grid{.rates = NqmSgd::rates(), .seconds = {0}};
  CHECK(model.fewest_steps(NqmMomentum{}, {}, grid).steps == plain.steps);
  CHECK(model.fewest_steps(NqmEma{}, {}, grid).steps == plain.steps);
}

// The recursion tracks expectations, whereas the library's rules use samples. A tensor holds many runs side by side,
// so one sequence of steps advances all of them. The mean of their losses must agree with the recursion within its
// standard error.
namespace {

const NoisyQuadratic sampled{.dimensions = 12, .bins = 6, .batch = 3};

struct Coordinates {
  std::vector<double> curvatures;
  std::size_t runs = 2000;
  Layout layout{1};
  Coordinates() {
    for (const auto& bin : sampled.spectrum())
      for (double i = 0; i < bin.count; ++i) curvatures.push_back(bin.curvature);
    layout.add({"x", Kind::weight, Shape(runs, curvatures.size())});
  }
};

// Checks the mean of the runs' losses at x, within three standard errors.
void check_mean(const Coordinates& of, const std::vector<double>& x, double expected) {
  double sum = 0, squares = 0;
  const std::size_t n = of.curvatures.size();
  for (std::size_t run = 0; run < of.runs; ++run) {
    double loss = 0;
    for (std::size_t i = 0; i < n; ++i) loss += 0.5 * of.curvatures[i] * x[run * n + i] * x[run * n + i];
    sum += loss;
    squares += loss * loss;
  }
  const double runs = static_cast<double>(of.runs), mean = sum / runs;
  const double error = std::sqrt((squares / runs - mean * mean) / (runs - 1));
  CAPTURE(mean);
  CAPTURE(expected);
  CHECK(error < 0.03 * expected);  // otherwise the test would have little power
  CHECK(std::fabs(mean - expected) < 3 * error);
}

template <class Nqm, class Rule>
void check_samples(const Nqm& nqm, const Rule& rule, std::uint64_t seed) {
  const Coordinates of;
  const std::size_t n = of.curvatures.size();
  RandomStream random(RandomKey{seed});
  std::vector<double> x(of.layout.size()), gradients(x.size()), evaluated(x.size());
  for (double& value : x) value = random.normal();
  const std::vector<double> first = x;
  auto state = rule.state(Host<double>{}, of.layout);
  for (std::uint64_t t = 1; t <= 300; ++t) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double h = of.curvatures[i % n];
      gradients[i] = h * x[i] + std::sqrt(h / sampled.batch) * random.normal();
    }
    rule.step(gradients, x, state, {.t = t, .learning_rate = nqm.rate});
    if (t != 1 && t != 10 && t != 50 && t != 300) continue;
    CAPTURE(t);
    const double expected = sampled.loss(nqm, t);
    if constexpr (Rule::has_evaluation_values) {
      rule.evaluation_values(x.data(), state, evaluated.data());
      // The recursion's average starts at x(0), the rule's at 0.
      const double forgotten = math::power(nqm.decay, t);
      for (std::size_t i = 0; i < x.size(); ++i) evaluated[i] = (1 - forgotten) * evaluated[i] + forgotten * first[i];
      check_mean(of, evaluated, expected);
    } else {
      check_mean(of, x, expected);
    }
  }
}

}  // namespace

TEST_CASE("noisy quadratic: sgd() agrees with its recursion") { check_samples(NqmSgd{.rate = 0.3}, sgd(), 1); }

TEST_CASE("noisy quadratic: momentum() agrees with its recursion") {
  check_samples(NqmMomentum{.rate = 0.5, .mu = 0.6}, momentum({.mu = 0.6}), 2);
}

TEST_CASE("noisy quadratic: WeightAverage agrees with its recursion") {
  check_samples(NqmEma{.rate = 0.3, .decay = 0.9}, chain(Descend{}, WeightAverage{.decay = 0.9}), 3);
}

TEST_CASE("noisy quadratic: invalid input is refused with a message") {
  const auto refused = [](const auto& call, const std::string& sentence) {
    CHECK_THROWS_WITH_AS(call(), sentence.c_str(), Error);
  };
  const NoisyQuadratic model;
  refused([&] { NoisyQuadratic{.dimensions = 1}.spectrum(); }, "NoisyQuadratic: dimensions is 1, expected 2 or more");
  refused([&] { NoisyQuadratic{.bins = 0}.loss(NqmSgd{}, 1); }, "NoisyQuadratic: bins is 0, expected 2 or more");
  refused([&] { NoisyQuadratic{.preconditioning = 1.5}.steps_to_target(NqmSgd{}); },
          "NoisyQuadratic: preconditioning is 1.5, expected [0, 1]");
  refused([&] { NoisyQuadratic{.batch = 0}.fewest_steps(NqmSgd{}); }, "NoisyQuadratic: batch is 0, expected (0, inf)");
  refused([&] { model.steps_to_target(NqmSgd{.rate = 0}); }, "NqmSgd: rate is 0, expected (0, inf)");
  refused([&] { model.loss(NqmMomentum{.rate = -1}, 1); }, "NqmMomentum: rate is -1, expected (0, inf)");
  refused([&] { model.loss(NqmMomentum{.mu = 1}, 1); }, "NqmMomentum: mu is 1, expected [0, 1)");
  refused([&] { model.loss(NqmEma{.rate = HUGE_VAL}, 1); }, "NqmEma: rate is inf, expected (0, inf)");
  refused([&] { model.loss(NqmEma{.decay = -0.5}, 1); }, "NqmEma: decay is -0.5, expected [0, 1)");
  refused([&] { model.fewest_steps(NqmEma{}, {}, {.seconds = {2}}); }, "NqmEma: decay is 2, expected [0, 1)");
  refused([&] { model.fewest_steps(NqmSgd{}, {}, {.seconds = {0.9}}); },
          "NoisyQuadratic: the grid has `seconds`, but the rule has no second hyperparameter");
  refused([&] { model.steps_to_target(NqmSgd{}, {.target = 0}); }, "NqmGoal: target is 0, expected (0, inf)");
  refused([&] { model.fewest_steps(NqmSgd{}, {.limit = 0}); }, "NqmGoal: limit is 0, expected [1, 2^53]");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refused([&] { NoisyQuadratic{.batch = nan}.spectrum(); }, "NoisyQuadratic: batch is nan, expected (0, inf)");
  refused([&] { geometric(0, 1, 3); }, "geometric: the ends are 0 and 1, expected positive numbers");
}

TEST_CASE("geometric: exact ends and equal ratios") {
  const auto powers = geometric(1, 1024, 11);
  REQUIRE(powers.size() == 11);
  for (std::size_t i = 0; i < 11; ++i) CHECK(powers[i] == near(std::pow(2, i), 1e-14));
  CHECK(geometric(3, 5, 1) == std::vector<double>{3});
  CHECK(geometric(3, 5, 0).empty());
  CHECK(geometric(1e-5, 0.3, 20).front() == 1e-5);
  CHECK(geometric(1e-5, 0.3, 20).back() == 0.3);
}
