// The update rules on which the contracts run, one entry each, with the properties that the contract checks.
#pragma once

#include <tuple>

#include "../rules/recipes.hpp"
#include "algoperf/backend/products/linear_algebra.hpp"
#include "algoperf/rules/all.hpp"
#include "algoperf/rules/recipes/shampoo.hpp"
#include "algoperf/rules/recipes/soap.hpp"
#include "algoperf/schedules/all.hpp"

namespace algoperf::testing {

// What the contract of a rule depends on besides the rule itself.
struct RuleFacts {
  const char* name;
  std::size_t matrix_slots, other_slots;  // state values per parameter, in matrices and in other tensors
  bool element_wise;                      // whether the split into tensors does not change the result
  Goal quadratic, rosenbrock;
  std::size_t side_slots;  // state values per row and per column of a matrix
  std::size_t factors;     // state values in the square factors of the problems' only matrix
};
template <class Rule>
struct RuleMember {
  RuleMember(const char* name, const Rule& made, std::size_t matrix_slots, std::size_t other_slots, bool element_wise,
             Goal quadratic, Goal rosenbrock, std::size_t side_slots = 0, std::size_t factors = 0)
      : facts{name, matrix_slots, other_slots, element_wise, quadratic, rosenbrock, side_slots, factors}, rule(made) {}

  RuleFacts facts;
  Rule rule;
};

inline auto rule_members() {
  const ClipByGlobalNorm clip{.max_norm = 1};
  const DecayedWeights decay{.rate = 1e-3};
  const Linear decay_ends{.from = 1e-3, .to = 0, .steps = 100};
  const auto fading_decay = masked(scheduled(decay, &DecayedWeights::rate, decay_ends), decayable);
  const AdamWOptions w{.weight_decay = 1e-3};
  const auto muon_adamw = partition(matrices, muon({.weight_decay = 1e-3}), otherwise, adamw(w));
  const auto clip_muon = chain(clip, muon_adamw);
  const ShampooOptions often{.weight_decay = 1e-3, .epsilon = 1e-3, .block = 4, .root_frequency = 3, .start_step = 2};
  const Precondition<NewtonRoot, GraftRmsPropNormalized> by_products{
      .beta1 = 0, .epsilon = 1e-3, .root_frequency = 3, .start_step = 4};
  const auto algoperf_shampoo = chain(by_products, decay, Nesterov{.mu = 0.9, .dampening = 0.9}, Descend{});
  const auto shampoo_adamw = partition(matrices, shampoo(often), otherwise, adamw(w));
  const auto newton_adamw = partition(matrices, algoperf_shampoo, otherwise, adamw(w));
  // largest_side excludes the longer side of the problems' matrix, 6. After the first gradient, the factor of that side
  // would not have full rank, and the basis of its null space could differ between backends.
  const auto soap_adamw =
      partition(matrices, soap({.weight_decay = 1e-3, .frequency = 3, .largest_side = 4}), otherwise, adamw(w));
  const auto averaged = chain(Momentum{}, Descend{}, WeightAverage{.decay = 0.9});
  const auto trusting = lars({.weight_decay = 1e-3, .coefficient = 1});
  const auto mlperf = mlperf_lars({.weight_decay = 1e-3, .coefficient = 1}, decayable);
  const auto detached = chain(Adam{}, Descend{}, DetachedDecay{.rate = 1e-5, .peak = 0.1});
  const auto polyak = chain(Momentum{}, Descend{}, PolyakAverage{.start = 50});
  const auto clipped = chain(ClipByValue{.max_value = 1}, Momentum{}, Descend{});
  const auto clip_adamw = chain(clip, Adam{}, decay, Descend{});
  const auto adam_fading = chain(Adam{}, fading_decay, Descend{});
  const auto factored = adafactor({.min_dim_size_to_factor = 2});
  return std::tuple{
      RuleMember{"lamb", lamb({.weight_decay = 1e-3}), 2, 2, false, {0.1, 200, 2e-6}, {0.03, 2000, 1e-3}},
      RuleMember{"lars", trusting, 1, 1, false, {0.05, 200, 1e-4}, {5e-3, 2000, 4e-3}},
      RuleMember{"mlperf_lars", mlperf, 1, 1, false, {0.05, 200, 1e-5}, {0.05, 2000, 4e-3}},
      RuleMember{"adagrad_norm", adagrad_norm(), 0, 0, false, {3, 200, 1e-7}, {0.1, 2000, 1}},
      RuleMember{"relative_clipped_sgd",
                 relative_clipped_sgd({.weight_decay = 1e-5}),
                 0,
                 0,
                 false,
                 {10, 200, 1e-7},
                 {10, 2000, 0.02}},
      RuleMember{"adafactor", factored, 0, 1, false, {0.3, 200, 1e-9}, {0.02, 2000, 0.01}, 1},
      RuleMember{"adafactor_torch", adafactor_torch(), 0, 1, false, {0.3, 200, 1e-9}, {0.02, 2000, 0.01}, 1},
      RuleMember{"adafactor_algoperf", adafactor_algoperf(), 1, 2, false, {0.1, 200, 1e-7}, {0.05, 2000, 1e-6}, 1},
      RuleMember{"dgrad", dgrad(), 3, 3, false, {1, 200, 1e-7}, {1, 2000, 1e-3}},
      RuleMember{"armijo", armijo(), 0, 0, false, {1, 200, 1e-9}, {0.1, 2000, 0.6}},
      RuleMember{"adam, detached decay", detached, 2, 2, true, {0.1, 200, 1e-6}, {0.1, 2000, 1e-4}},
      RuleMember{"momentum, polyak average", polyak, 2, 2, true, {0.3, 200, 1e-8}, {0.05, 2000, 1e-4}},
      RuleMember{"clip by value, momentum", clipped, 1, 1, true, {0.3, 200, 1e-8}, {0.05, 2000, 1e-4}},
      RuleMember{"muon and adamw", muon_adamw, 1, 2, false, {0.1, 200, 1e-6}, {0.05, 2000, 1e-3}},
      RuleMember{"clip, muon and adamw", clip_muon, 1, 2, false, {0.1, 200, 1e-6}, {0.05, 2000, 1e-3}},
      RuleMember{"shampoo and adamw", shampoo_adamw, 2, 2, false, {0.1, 200, 2e-8}, {0.1, 2000, 1e-4}, 0, 104},
      RuleMember{
          "shampoo by products and adamw", newton_adamw, 2, 2, false, {0.1, 300, 2e-8}, {0.1, 2000, 1e-4}, 0, 104},
      RuleMember{"soap and adamw", soap_adamw, 2, 2, false, {0.3, 200, 1e-4}, {0.1, 2000, 1e-4}, 0, 32},
      RuleMember{"sam of momentum", sam(momentum(), {.rho = 1e-3}), 1, 1, false, {0.3, 200, 1e-9}, {0.01, 2000, 4e-3}},
      RuleMember{"clip, adamw", clip_adamw, 2, 2, false, {0.1, 200, 2e-8}, {0.05, 2000, 1e-4}},
      RuleMember{"averaged momentum", averaged, 2, 2, true, {0.3, 200, 1e-8}, {0.01, 2000, 4e-3}},
      RuleMember{"adam, masked fading decay", adam_fading, 2, 2, false, {0.1, 200, 1e-8}, {0.05, 2000, 1e-4}},
  };
}

// Calls f(member) for each rule: first the elementwise recipes, then rule_members().
template <class F>
void for_each_rule(const F& f) {
  for_each_recipe([&](const auto& recipe) {
    const auto& c = recipe.contract;
    f(RuleMember{recipe.name, c.rule, c.slots, c.slots, true, c.quadratic, c.rosenbrock});
  });
  std::apply([&](const auto&... members) { (f(members), ...); }, rule_members());
}

}  // namespace algoperf::testing
