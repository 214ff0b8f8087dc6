#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/error.hpp"
#include "../concept.hpp"
#include "../geometric.hpp"
#include "rules.hpp"

namespace algoperf {

// The goal of a search: a loss below `target` within `limit` steps.
struct NqmGoal {
  double target = 0.01;              // (0, inf)
  std::uint64_t limit = 1000000000;  // [1, 2^53]

  void check() const {
    require(target > 0 && target < HUGE_VAL, "NqmGoal: target is ", target, ", expected (0, inf)");
    require(limit >= 1 && limit <= std::uint64_t{1} << 53, "NqmGoal: limit is ", limit, ", expected [1, 2^53]");
  }
};

// The grid to search: every pair of a learning rate and a value of the rule's second hyperparameter, if it has one.
// An empty vector stands for the values that the paper searches: Rule::rates() or Rule::seconds().
struct NqmGrid {
  std::vector<double> rates = {};
  std::vector<double> seconds = {};
};

// The result of a search: the steps to the target, infinite if it was missed, and the rule that takes them.
template <class Rule>
struct NqmBest {
  double steps = HUGE_VAL;
  Rule rule = {};
};

namespace detail {

// A rule's second moments along some directions, and the maps of 1, 2, 4, ... steps, each computed when first needed.
template <class Rule>
class NqmPowers {
 public:
  using Moments = std::array<double, Rule::moments>;
  using Map = AffineMap<Rule::moments>;

  // Adds a direction. The loss is the sum over directions of `weight` times the rule's mean square.
  void add(const NqmDirection& direction, double weight) {
    directions_.push_back(direction);
    weights_.push_back(weight);
  }

  void begin(const Rule& rule) {
    rule_ = rule;
    levels_ = 0;
    now_.assign(weights_.size(), rule.start());
    next_.resize(weights_.size());
  }

  double loss(const std::vector<Moments>& moments) const {
    double sum = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) sum += weights_[i] * rule_.square(moments[i]);
    return sum;
  }

  double loss_after(std::uint64_t steps) {
    for (std::size_t k = 0; steps != 0; ++k, steps >>= 1) {
      if (steps % 2 == 0) continue;
      advance(k, now_);
      now_.swap(next_);
    }
    return loss(now_);
  }

  // Doubles the number of steps until the loss is below the target, then bisects.
  double steps_to(const NqmGoal& goal) {
    if (loss(now_) < goal.target) return 0;
    const std::vector<Moments> start = now_;
    std::uint64_t steps = 0;  // steps of now_, whose loss is not below the target
    std::size_t k = 0;
    for (; std::uint64_t{1} << k <= goal.limit; ++k) {
      advance(k, start);
      const double found = loss(next_);
      if (!(found < HUGE_VAL)) return HUGE_VAL;  // diverges
      if (found < goal.target) break;
      now_.swap(next_);
      steps = std::uint64_t{1} << k;
    }
    for (std::size_t more = k; more-- > 1;) {  // now_ is the state after 2^(k - 1) steps, or after none if k = 0
      advance(more - 1, now_);
      if (loss(next_) < goal.target) continue;
      now_.swap(next_);
      steps += std::uint64_t{1} << (more - 1);
    }
    return steps < goal.limit ? static_cast<double>(steps + 1) : HUGE_VAL;
  }

 private:
  // Sets next_ to the moments 2^k steps after `from`.
  void advance(std::size_t k, const std::vector<Moments>& from) {
    const std::size_t n = weights_.size();
    if (maps_.size() < (k + 1) * n) maps_.resize((k + 1) * n);
    for (; levels_ <= k; ++levels_)
      for (std::size_t i = 0; i < n; ++i) {
        Map& map = maps_[levels_ * n + i];
        map = levels_ == 0 ? rule_.map(directions_[i]) : maps_[(levels_ - 1) * n + i].twice();
      }
    for (std::size_t i = 0; i < n; ++i) next_[i] = maps_[k * n + i](from[i]);
  }

  Rule rule_ = {};
  std::vector<NqmDirection> directions_;
  std::vector<double> weights_;
  std::vector<Map> maps_;   // the maps of 2^k steps begin at k times the number of directions
  std::size_t levels_ = 0;  // how many values of k are computed for this rule
  std::vector<Moments> now_, next_;
};

}  // namespace detail

// The noisy quadratic model of training: the number of steps that a rule needs to reach a target loss, as a function
// of the batch size. It reproduces the shape of measured curves: perfect scaling (half the steps at twice the batch),
// diminishing returns, a plateau. Momentum and preconditioning move the plateau to larger batches, and averages of
// weights help small batches.
//   loss = 1/2 sum_i h_i x_i^2, i = 1 ... dimensions;  h_i = 1 / i;  E x_i(0)^2 = 1
//   gradient_i = h_i x_i + noise of variance h_i / batch, times the preconditioner h_i^-preconditioning
// The curvatures are rounded down to `bins` values, spaced geometrically from 1 to 1 / dimensions. The expected loss
// depends only on second moments, on which one step is an affine map in each bin (rules.hpp). So n steps take log2(n)
// products, and nothing is sampled.
//   NoisyQuadratic{.preconditioning = 0.5, .batch = 1024}.fewest_steps(NqmMomentum{}, {.target = 0.01})
// Source: Zhang et al. 2019 (arXiv:1907.04164) and its notebook, whose bins and search are the defaults. Departures:
//   - steps_to_target is the first step whose loss is below the target. The notebook reports the last step before it,
//     one less.
//   - SGD has no 1e-8 in a denominator. In the notebook, this term reduces step counts in the millions by
//     up to 0.32 %.
//   - Where momentum makes the loss oscillate about the target, steps_to_target is one of the crossings, but not
//     necessarily the first or that of the notebook.
// Cost: a search of 100 rates x 20 momenta takes about 0.1 s, one of 100 rates about 1 ms.
struct NoisyQuadratic {
  std::size_t dimensions = 10000;  // [2, inf)
  std::size_t bins = 100;          // [2, inf)
  double preconditioning = 0;      // [0, 1]: gamma, from none (0) to Newton's method (1)
  double batch = 1;                // (0, inf)

  struct Bin {
    double curvature = 1, count = 0;
  };

  void check() const {
    require(dimensions >= 2, "NoisyQuadratic: dimensions is ", dimensions, ", expected 2 or more");
    require(bins >= 2, "NoisyQuadratic: bins is ", bins, ", expected 2 or more");
    require(preconditioning >= 0 && preconditioning <= 1, "NoisyQuadratic: preconditioning is ", preconditioning,
            ", expected [0, 1]");
    require(batch > 0 && batch < HUGE_VAL, "NoisyQuadratic: batch is ", batch, ", expected (0, inf)");
  }

  // Returns the bins. Each counts the curvatures from its own value up to that of the previous bin.
  std::vector<Bin> spectrum() const {
    check();
    std::vector<Bin> spectrum;
    std::size_t i = 1;
    for (const double curvature : geometric(1, 1 / static_cast<double>(dimensions), bins)) {
      spectrum.push_back({curvature, 0});
      for (; i <= dimensions && 1 / static_cast<double>(i) >= curvature; ++i) spectrum.back().count += 1;
    }
    return spectrum;
  }

  // Returns the expected loss after `steps` steps; infinite or NaN if it overflows.
  template <class Rule>
  double loss(const Rule& rule, std::uint64_t steps) const {
    static_assert(detail::explain_nqm_rule<Rule>());
    auto powers = powers_of(rule);
    return powers.loss_after(steps);
  }

  // Returns the first step whose loss is below the target: 0 if the initial loss is, infinite if no step within the
  // limit is.
  template <class Rule>
  double steps_to_target(const Rule& rule, const NqmGoal& goal = {}) const {
    static_assert(detail::explain_nqm_rule<Rule>());
    goal.check();
    auto powers = powers_of(rule);
    return powers.steps_to(goal);
  }

  // Returns the minimum number of steps to the target over the grid. Ties go to the rate that comes first in the
  // grid, then to the second hyperparameter that comes first. The search runs from the end of the grid, because large
  // rates diverge early and cost little.
  template <class Rule>
  NqmBest<Rule> fewest_steps(Rule rule, NqmGoal goal = {}, NqmGrid grid = {}) const {
    static_assert(detail::explain_nqm_rule<Rule>());
    goal.check();
    auto powers = powers_of(rule);
    if (grid.rates.empty()) grid.rates = Rule::rates();
    if constexpr (NqmRuleOfTwo<Rule>) {
      if (grid.seconds.empty()) grid.seconds = Rule::seconds();
    } else {
      require(grid.seconds.empty(),
              "NoisyQuadratic: the grid has `seconds`, but the rule has no second hyperparameter");
      grid.seconds = {0};
    }
    NqmBest<Rule> best{HUGE_VAL, rule};
    for (std::size_t i = grid.rates.size(); i-- > 0;)
      for (std::size_t j = grid.seconds.size(); j-- > 0;) {
        rule.rate = grid.rates[i];
        if constexpr (NqmRuleOfTwo<Rule>) rule.*Rule::second = grid.seconds[j];
        begin(powers, rule);
        const double steps = powers.steps_to(goal);
        if (steps == HUGE_VAL) continue;
        best = {steps, rule};
        goal.limit = static_cast<std::uint64_t>(steps);  // more steps would not be better
      }
    return best;
  }

 private:
  template <class Rule>
  static void begin(detail::NqmPowers<Rule>& powers, const Rule& rule) {
    if constexpr (requires { rule.check(); }) rule.check();
    powers.begin(rule);
  }

  template <class Rule>
  detail::NqmPowers<Rule> powers_of(const Rule& rule) const {
    detail::NqmPowers<Rule> powers;
    for (const Bin& bin : spectrum())
      if (bin.count > 0)
        powers.add({bin.curvature, std::pow(bin.curvature, -preconditioning), bin.curvature / batch},
                   0.5 * bin.curvature * bin.count);
    begin(powers, rule);
    return powers;
  }
};

}  // namespace algoperf
