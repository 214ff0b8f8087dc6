// The table of elementwise recipes, one entry each. The tests use it to run the rule contract on every recipe, to check
// the recipe's cost in docs/rules.md, to check golden rows, and to check that invalid options are rejected.
#pragma once

#include <cmath>
#include <tuple>

#include "algoperf/rules/all.hpp"

namespace algoperf::testing {

// The goal of a rule on a problem: initial learning rate (a cosine decays it to 0), number of steps, and the loss to
// reach.
struct Goal {
  double rate;
  int steps;
  double loss;
};

// The rule on which the contract runs, its slots per parameter, and its goals on the two problems.
template <class Rule>
struct Contract {
  Rule rule;
  std::size_t slots;
  Goal quadratic, rosenbrock;
};
template <class Rule>
Contract(Rule, std::size_t, Goal, Goal) -> Contract<Rule>;

// The learning rate of a golden row: constant at 0.05, rising linearly to 0.05 over 4 steps, or falling linearly from
// 0.05 to 0 over 20 steps.
enum class GoldenRate { constant, warming, falling };

// A row of tests/golden/rules.hpp and the rule that must reproduce it. If the rule averages parameters, the row
// contains the averages.
template <class Rule>
struct GoldenRow {
  const char* name;
  Rule rule;
  GoldenRate rate = GoldenRate::constant;
};
template <class Rule>
GoldenRow(const char*, Rule, GoldenRate = GoldenRate::constant) -> GoldenRow<Rule>;

// A rule with an invalid hyperparameter, and the message of the Error that it must throw.
template <class Rule>
struct Refusal {
  Rule rule;
  const char* message;
};
template <class Rule>
Refusal(Rule, const char*) -> Refusal<Rule>;

template <class Rule, class ContractRule, class GoldenRows, class Refusals>
struct Recipe {
  const char* name;  // as in docs/rules.md
  Rule rule;
  Contract<ContractRule> contract;
  GoldenRows golden;
  Refusals refusals;
};
template <class Rule, class ContractRule, class GoldenRows, class Refusals>
Recipe(const char*, Rule, Contract<ContractRule>, GoldenRows, Refusals)
    -> Recipe<Rule, ContractRule, GoldenRows, Refusals>;

inline auto recipes() {
  const double nan = std::nan("");
  const AdamWOptions decayed{.weight_decay = 1e-3};
  const DecayedWeights tenth{.rate = 0.1};
  // torch initialises the momentum buffer with the first gradient, without dampening.
  const auto torchs_dampening = [](std::uint64_t step) { return step == 0 ? 0 : 0.3; };
  const auto dampened = chain(scheduled(Momentum{}, &Momentum::dampening, torchs_dampening), Descend{});
  const auto yogi_paper = yogi({.beta2 = 0.5, .bias_correction = BiasCorrection::off, .start = 0});
  return std::tuple{
      Recipe{"sgd", sgd(), Contract{sgd(), 0, {1, 200, 1e-9}, {0.02, 4000, 0.05}},
             std::tuple{GoldenRow{"sgd", sgd()}, GoldenRow{"sgd_l2", sgd({.weight_decay = 0.1})}},
             std::tuple{Refusal{sgd({.weight_decay = -1}), "DecayedWeights: rate is -1, expected at least 0"}}},
      Recipe{"momentum", momentum(), Contract{momentum(), 1, {0.3, 200, 1e-8}, {0.01, 2000, 4e-3}},
             std::tuple{GoldenRow{"momentum", momentum()}, GoldenRow{"momentum_dampening", dampened}},
             std::tuple{
                 Refusal{momentum({.mu = 1}), "Momentum: mu is 1, expected [0, 1)"},
                 Refusal{chain(Momentum{.dampening = 1.5}, Descend{}), "Momentum: dampening is 1.5, expected [0, 1]"}}},
      Recipe{"nesterov", nesterov(), Contract{nesterov(), 1, {0.3, 200, 1e-9}, {0.01, 2000, 4e-3}},
             std::tuple{GoldenRow{"nesterov", nesterov()}},
             std::tuple{
                 Refusal{nesterov({.mu = -0.5}), "Nesterov: mu is -0.5, expected [0, 1)"},
                 Refusal{chain(Nesterov{.dampening = -1}, Descend{}), "Nesterov: dampening is -1, expected [0, 1]"}}},
      Recipe{"adam", adam(), Contract{adam(), 2, {0.1, 200, 1e-8}, {0.05, 2000, 1e-4}},
             std::tuple{GoldenRow{"adam", adam()}, GoldenRow{"adam_large_eps", adam({.eps = 0.1})},
                        GoldenRow{"adam_uncorrected_eps", adam({.eps = 1e-3, .eps_at = EpsAt::uncorrected})},
                        GoldenRow{"adam_eps_inside", adam({.eps = 1e-3, .eps_at = EpsAt::inside})},
                        GoldenRow{"adam_without_correction", adam({.bias_correction = BiasCorrection::off})}},
             std::tuple{Refusal{adam({.beta1 = nan}), "Adam: beta1 is nan, expected [0, 1)"},
                        Refusal{adam({.beta2 = 1}), "Adam: beta2 is 1, expected [0, 1)"}}},
      Recipe{"adamw", adamw(), Contract{adamw(decayed), 2, {0.1, 200, 2e-8}, {0.05, 2000, 1e-4}},
             std::tuple{GoldenRow{"adamw", adamw({.weight_decay = 0.1})},
                        GoldenRow{"adamw_optax", adamw({.weight_decay = 0.1})}},
             std::tuple{Refusal{adamw({.eps = 0}), "Adam: eps is 0, expected more than 0"}}},
      Recipe{"nadamw", nadamw(), Contract{nadamw(decayed), 2, {0.1, 200, 2e-8}, {0.05, 2000, 1e-4}},
             std::tuple{GoldenRow{"nadamw", nadamw({.weight_decay = 0.1})},
                        GoldenRow{"nadamw_optax", chain(NAdam{.form = NAdamForm::optax}, tenth, Descend{})}},
             std::tuple{Refusal{nadamw({.beta1 = 1}), "NAdam: beta1 is 1, expected [0, 1)"},
                        Refusal{nadamw({.beta2 = -1}), "NAdam: beta2 is -1, expected [0, 1)"},
                        Refusal{nadamw({.eps = -1}), "NAdam: eps is -1, expected more than 0"}}},
      Recipe{"nadam", nadam(), Contract{nadam(), 2, {0.3, 200, 1e-9}, {0.05, 2000, 4e-3}},
             std::tuple{GoldenRow{"nadam", nadam()}},
             std::tuple{Refusal{nadam({.momentum_decay = -1}), "NAdam: momentum_decay is -1, expected at least 0"}}},
      Recipe{"lion", lion(), Contract{lion({.weight_decay = 1e-3}), 1, {0.05, 200, 1e-6}, {5e-3, 2000, 1e-4}},
             std::tuple{GoldenRow{"lion", lion({.weight_decay = 0.1})}},
             std::tuple{Refusal{lion({.beta1 = 2}), "Lion: beta1 is 2, expected [0, 1)"},
                        Refusal{lion({.beta2 = 1}), "Lion: beta2 is 1, expected [0, 1)"}}},
      Recipe{"adagrad", adagrad(), Contract{adagrad(), 1, {1, 200, 1e-9}, {0.3, 2000, 0.02}},
             std::tuple{GoldenRow{"adagrad", adagrad()},
                        GoldenRow{"adagrad_optax", adagrad({.eps = 1e-7, .eps_at = EpsAt::inside, .start = 0.1})}},
             std::tuple{Refusal{adagrad({.eps = 0}), "Adagrad: eps is 0, expected more than 0"},
                        Refusal{adagrad({.start = -1}), "Adagrad: start is -1, expected at least 0"}}},
      Recipe{"rmsprop", rmsprop(), Contract{rmsprop(), 1, {0.05, 200, 1e-9}, {0.01, 2000, 4e-3}},
             std::tuple{
                 GoldenRow{"rmsprop", rmsprop()},
                 GoldenRow{"rmsprop_optax", rmsprop({.rho = 0.9, .eps = 1e-3, .eps_at = EpsAt::inside, .start = 1})}},
             std::tuple{Refusal{rmsprop({.rho = 1.5}), "RmsProp: rho is 1.5, expected [0, 1]"},
                        Refusal{rmsprop({.eps = 0}), "RmsProp: eps is 0, expected more than 0"},
                        Refusal{rmsprop({.start = -1}), "RmsProp: start is -1, expected at least 0"}}},
      Recipe{"centered_rmsprop", centered_rmsprop(),
             Contract{chain(CenteredRmsProp{}, Momentum{}, Descend{}), 3, {0.05, 200, 1e-7}, {1e-3, 2000, 1e-4}},
             std::tuple{GoldenRow{"rmsprop_centered_momentum", chain(CenteredRmsProp{}, Momentum{}, Descend{})}},
             std::tuple{Refusal{centered_rmsprop({.rho = 1}), "CenteredRmsProp: rho is 1, expected [0, 1)"}}},
      Recipe{"amsgrad", amsgrad(), Contract{amsgrad(), 3, {0.3, 200, 1e-7}, {0.3, 2000, 1e-4}},
             std::tuple{GoldenRow{"amsgrad", amsgrad()},
                        GoldenRow{"amsgrad_optax",
                                  chain(AmsGrad{.largest_of = LargestOf::corrected_second_moment}, Descend{})}},
             std::tuple{Refusal{amsgrad({.beta2 = 1}), "AmsGrad: beta2 is 1, expected [0, 1)"}}},
      Recipe{"radam", radam(), Contract{radam(), 2, {3, 200, 1e-7}, {0.1, 2000, 1e-4}},
             std::tuple{GoldenRow{"radam", radam()},
                        GoldenRow{"radam_decayed", radam({.beta2 = 0.9, .weight_decay = 0.1})},
                        GoldenRow{"radam_optax", chain(RAdam{.beta2 = 0.9, .eps_at = EpsAt::outside}, Descend{})}},
             std::tuple{Refusal{radam({.beta2 = 0.5}), "RAdam: beta2 is 0.5, expected (2/3, 1)"}}},
      Recipe{"ademamix", ademamix(), Contract{ademamix({.warmup = 100}), 3, {1, 200, 4e-3}, {1e-3, 2000, 4}},
             std::tuple{GoldenRow{"ademamix", ademamix({.weight_decay = 0.1})},
                        GoldenRow{"ademamix_warmup", ademamix({.warmup = 8})}},
             std::tuple{Refusal{ademamix({.beta3 = 0.5}), "AdEmaMix: beta3 is 0.5, expected [beta1, 1)"},
                        Refusal{ademamix({.alpha = -1}), "AdEmaMix: alpha is -1, expected at least 0"}}},
      Recipe{"schedule_free_sgd", schedule_free_sgd(),
             Contract{schedule_free_sgd(), 1, {1, 200, 1e-4}, {0.1, 2000, 0.02}},
             std::tuple{GoldenRow{"schedule_free_sgd", schedule_free_sgd({.weight_decay = 0.1}), GoldenRate::warming}},
             std::tuple{Refusal{schedule_free_sgd({.beta = 0}), "ScheduleFree: beta is 0, expected (0, 1)"}}},
      Recipe{"schedule_free_adamw", schedule_free_adamw(),
             Contract{schedule_free_adamw(), 2, {1, 200, 1e-6}, {0.2, 2000, 1e-3}},
             std::tuple{GoldenRow{"schedule_free_adamw", schedule_free_adamw({.weight_decay = 0.1, .r = 0.75}),
                                  GoldenRate::warming}},
             std::tuple{Refusal{schedule_free_adamw({.beta2 = 1}),
                                "RmsProp: rho is 1, expected less than 1 with bias_correction"},
                        Refusal{schedule_free_adamw({.r = -1}), "ScheduleFree: r is -1, expected at least 0"}}},
      Recipe{"noise_adaptive_nesterov", noise_adaptive_nesterov({.steps = 1000}),
             Contract{noise_adaptive_nesterov({.strong_convexity = 0.1, .beta = 2000, .steps = 2000}),
                      1,
                      {0.3, 200, 1e-9},
                      {0.01, 2000, 1e-4}},
             std::tuple{
                 GoldenRow{"noise_adaptive_nesterov", noise_adaptive_nesterov({.strong_convexity = 0.5, .steps = 12})}},
             std::tuple{Refusal{noise_adaptive_nesterov({.strong_convexity = 0, .steps = 1}),
                                "NoiseAdaptiveNesterov: strong_convexity is 0, expected (0, inf)"},
                        Refusal{noise_adaptive_nesterov({.beta = 0, .steps = 1}),
                                "NoiseAdaptiveNesterov: beta is 0, expected (0, steps], and steps is 1"},
                        Refusal{noise_adaptive_nesterov({.steps = 0}),
                                "NoiseAdaptiveNesterov: steps is 0, expected at least 1"}}},
      Recipe{"madam", madam(), Contract{madam(), 4, {0.3, 200, 1e-7}, {0.3, 2000, 1e-4}},
             std::tuple{GoldenRow{"madam", madam({.weight_decay = 0.1})}},
             std::tuple{
                 Refusal{madam({.beta_min = 0.9, .beta_max = 0.5}), "MaxVa: beta_min is 0.9, expected [0, beta_max]"}}},
      Recipe{"lamadam", lamadam(), Contract{lamadam(), 4, {0.3, 200, 1e-7}, {3e-3, 2000, 1e-3}},
             std::tuple{GoldenRow{"lamadam", lamadam({.weight_decay = 0.1}), GoldenRate::falling}},
             std::tuple{Refusal{lamadam({.beta_max = 1}), "LaMaxVa: beta_max is 1, expected (0, 1)"}}},
      Recipe{"diffgrad", diffgrad(), Contract{diffgrad(), 3, {1, 200, 1e-7}, {1, 2000, 1e-4}},
             std::tuple{GoldenRow{"diffgrad", diffgrad()}},
             std::tuple{Refusal{diffgrad({.beta1 = -1}), "DiffGrad: beta1 is -1, expected [0, 1)"}}},
      Recipe{"yogi", yogi(), Contract{yogi(), 2, {0.1, 200, 1e-8}, {0.1, 2000, 1e-5}},
             std::tuple{GoldenRow{"yogi", yogi()}, GoldenRow{"yogi_paper", yogi_paper}},
             std::tuple{Refusal{yogi({.beta2 = 1}), "Yogi: beta2 is 1, expected [0, 1)"},
                        Refusal{yogi({.start = -1}), "Yogi: start is -1, expected at least 0"}}},
  };
}

// Calls f(recipe) for each recipe of the table.
template <class F>
void for_each_recipe(const F& f) {
  std::apply([&](const auto&... recipe) { (f(recipe), ...); }, recipes());
}

}  // namespace algoperf::testing
