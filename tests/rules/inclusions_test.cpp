// Tests that rules which generalise others equal them for suitable hyperparameters (Choi et al. 2019,
// arXiv:1910.05446).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/rules/all.hpp"
#include "training.hpp"

namespace ap = algoperf;

namespace {

using Values = std::vector<double>;

// Returns the values after 20 steps. `rate` is a constant or a function of the step, counted from 1.
template <class Rule, class Rate>
Values after(const Rule& rule, const Rate& rate) {
  ap::testing::Training<Rule, ap::Host<double>> training(rule, ap::testing::layout_of({{5, 3}, {7}}));
  for (int t = 1; t <= 20; ++t) {
    if constexpr (std::is_invocable_v<Rate, int>)
      training.step(rate(t));
    else
      training.step(rate);
  }
  return training.values();
}

double difference(const Values& a, const Values& b) {
  double largest = 0, scale = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = larger_or_nan(largest, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  return largest / scale;
}

constexpr double fixed_rate = 0.05;

}  // namespace

TEST_CASE("Momentum and Nesterov with mu = 0 equal SGD bit for bit") {
  const Values sgd = after(ap::chain(ap::Descend{}), fixed_rate);
  CHECK(after(ap::chain(ap::Momentum{.mu = 0}, ap::Descend{}), fixed_rate) == sgd);
  CHECK(after(ap::chain(ap::Nesterov{.mu = 0}, ap::Descend{}), fixed_rate) == sgd);
}

TEST_CASE("RMSProp with a constant second moment of 1 is momentum, and a tiny eps has no effect bit for bit") {
  const Values momentum = after(ap::momentum(), fixed_rate);
  const auto frozen = [](ap::RmsProp rmsprop) { return ap::chain(rmsprop, ap::Momentum{}, ap::Descend{}); };
  CHECK(after(frozen({.rho = 1, .eps = 0, .start = 1}), fixed_rate) ==
        after(frozen({.rho = 1, .eps = 1e-300, .start = 1}), fixed_rate));
  CHECK(difference(after(frozen({.rho = 1, .eps = 0, .start = 1}), fixed_rate), momentum) < 1e-15);
  const double eps = 0.3;
  CHECK(difference(after(frozen({.rho = 1, .eps = eps, .eps_at = ap::EpsAt::inside, .start = 1}),
                         fixed_rate * std::sqrt(1 + eps)),
                   momentum) < 1e-14);
}

TEST_CASE("Adam converges to momentum, and NAdam to Nesterov, as eps grows") {
  const double beta1 = 0.9;
  // Adam's bias-corrected average is (1 - beta1) / (1 - beta1^t) times momentum's buffer. With this learning rate,
  // dividing it by eps gives momentum's step.
  const auto rate_for = [&](double eps) {
    return [=](int t) { return eps * fixed_rate * (1 - std::pow(beta1, t)) / (1 - beta1); };
  };
  const Values momentum = after(ap::momentum({.mu = beta1}), fixed_rate),
               nesterov = after(ap::nesterov({.mu = beta1}), fixed_rate);
  double last = 1;
  for (const double eps : {1e2, 1e4, 1e6, 1e8}) {
    const auto adam = ap::adam({.beta1 = beta1, .beta2 = 0, .eps = eps});
    const auto nadam = ap::chain(ap::NAdam{.beta1 = beta1, .beta2 = 0, .eps = eps}, ap::Descend{});
    const double error =
        std::max(difference(after(adam, rate_for(eps)), momentum), difference(after(nadam, rate_for(eps)), nesterov));
    CHECK(error < 2 / eps);
    CHECK(error < last);
    last = error;
  }
}

TEST_CASE("MaxVA with beta_min = beta_max equals Adam with that beta2") {
  const auto fixed = ap::madam({.beta_min = 0.99, .beta_max = 0.99, .weight_decay = 0.1});
  CHECK(difference(after(fixed, fixed_rate), after(ap::adamw({.beta2 = 0.99, .weight_decay = 0.1}), fixed_rate)) <
        1e-13);
  CHECK(difference(after(ap::madam(), fixed_rate), after(ap::adam(), fixed_rate)) > 1e-3);
}

TEST_CASE("LaMAdam with beta_min = beta_max and no momentum equals RMSProp with bias correction") {
  const ap::RmsProp rmsprop{.rho = 0.9, .eps = 1e-15, .bias_correction = ap::BiasCorrection::on};
  const auto lamadam = ap::lamadam({.beta1 = 0, .beta_min = 0.9, .beta_max = 0.9});
  CHECK(difference(after(lamadam, fixed_rate), after(ap::chain(rmsprop, ap::Descend{}), fixed_rate)) < 1e-13);
}

TEST_CASE("LAMB and LARS with a trust ratio fixed at 1 equal AdamW and momentum") {
  const ap::TrustRatio one{.least = 1, .most = 1};
  const ap::DecayedWeights decay{.rate = 0.1};
  CHECK(difference(after(ap::chain(ap::Adam{}, decay, one, ap::Descend{}), fixed_rate),
                   after(ap::adamw({.weight_decay = 0.1}), fixed_rate)) < 1e-14);
  CHECK(difference(after(ap::chain(decay, one, ap::Descend{}, ap::Momentum{}), fixed_rate),
                   after(ap::momentum({.weight_decay = 0.1}), fixed_rate)) < 1e-14);
}

TEST_CASE("the learning rate inside the momentum makes a difference only if it is not constant") {
  const auto inside = ap::chain(ap::Descend{}, ap::Momentum{});
  const auto outside = ap::chain(ap::Momentum{}, ap::Descend{});
  CHECK(difference(after(inside, fixed_rate), after(outside, fixed_rate)) < 1e-14);
  const auto falling = [](int t) { return fixed_rate / t; };
  CHECK(difference(after(inside, falling), after(outside, falling)) > 1e-3);
}

TEST_CASE("detached decay with a constant learning rate equals decoupled decay of rate / lr") {
  const auto detached =
      ap::chain(ap::Adam{}, ap::Descend{}, ap::DetachedDecay{.rate = 0.1 * fixed_rate, .peak = fixed_rate});
  CHECK(difference(after(detached, fixed_rate), after(ap::adamw({.weight_decay = 0.1}), fixed_rate)) < 1e-14);
}

TEST_CASE("AMSGrad equals Adam while the second moment grows, and differs afterwards") {
  // With beta2 = 0.5, the second moment of the gradients of `shaken` sometimes decreases.
  const Values adam = after(ap::adam({.beta2 = 0.5}), fixed_rate);
  CHECK(difference(after(ap::amsgrad({.beta2 = 0.5}), fixed_rate), adam) > 1e-3);
  const auto growing = [](const auto& rule) {
    using Rule = std::remove_cvref_t<decltype(rule)>;
    ap::testing::Training<Rule, ap::Host<double>> training(rule, ap::testing::layout_of({{4}}), {},
                                                           [](std::uint64_t t, const Values&, Values& g) {
                                                             for (std::size_t i = 0; i < g.size(); ++i)
                                                               g[i] = static_cast<double>(t * (i + 1));
                                                           });
    training.steps(10, fixed_rate);
    return training.values();
  };
  CHECK(growing(ap::amsgrad({.beta2 = 0.5})) == growing(ap::adam({.beta2 = 0.5})));
}

TEST_CASE("AdEMAMix without its slow average equals AdamW") {
  CHECK(difference(after(ap::ademamix({.alpha = 0, .weight_decay = 0.1}), fixed_rate),
                   after(ap::adamw({.weight_decay = 0.1}), fixed_rate)) < 1e-14);
}

TEST_CASE("schedule-free learning evaluates at the weighted mean of z") {
  const auto rule = ap::schedule_free_sgd({.r = 1});
  ap::testing::Training<decltype(ap::schedule_free_sgd()), ap::Host<double>> training(rule,
                                                                                      ap::testing::layout_of({{7}}));
  Values mean(7);
  double weights = 0;
  for (int t = 1; t <= 20; ++t) {
    training.step(fixed_rate);
    const double* const z = training.state.slot(0, 0);
    weights += t;
    for (std::size_t i = 0; i < 7; ++i) mean[i] += (z[i] - mean[i]) * t / weights;
    CHECK(difference(training.evaluation_values(), mean) < 1e-13);
  }
}

TEST_CASE("the Polyak average of one step equals the parameters, and so does an EMA with decay 0") {
  const auto polyak = ap::chain(ap::Descend{}, ap::PolyakAverage{.start = 19});
  const auto ema = ap::chain(ap::Descend{}, ap::WeightAverage{.decay = 0});
  const auto averages = [](const auto& rule) {
    using Rule = std::remove_cvref_t<decltype(rule)>;
    ap::testing::Training<Rule, ap::Host<double>> training(rule, ap::testing::layout_of({{7}}));
    training.steps(20, fixed_rate);
    CHECK(difference(training.evaluation_values(), training.values()) < 1e-15);
  };
  averages(polyak);
  averages(ema);
}
