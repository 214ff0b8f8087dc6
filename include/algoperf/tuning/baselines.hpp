// AlgoPerf's baselines as submissions, and two more: algorithms to compare one's own with.
//
// Search spaces are those of Dahl et al. 2023, Table 12, and of the published files where the two differ (said below);
// the space of Muon and that of schedule-free AdamW follow AlgoPerf's later submissions. Schedules last for the
// workload's step hint, with a warm-up of 5 %. Not searched here, unlike there: label smoothing and dropout.
#pragma once

#include <cstdint>
#include <vector>

#include "../rules/chain/chain.hpp"
#include "../rules/recipes/adafactor.hpp"
#include "../rules/recipes/adamw.hpp"
#include "../rules/recipes/lamb.hpp"
#include "../rules/recipes/muon.hpp"
#include "../rules/recipes/nadam.hpp"
#include "../rules/recipes/schedule_free.hpp"
#include "../rules/recipes/sgd.hpp"
#include "../rules/recipes/shampoo.hpp"
#include "../rules/wrappers/partition.hpp"
#include "../rules/wrappers/sam.hpp"
#include "../schedules/all.hpp"
#include "submission.hpp"

namespace algoperf {

namespace detail {

// A warm-up of 5 % of the step hint, then half a cosine to 0.
inline WarmupCosine warmup_cosine_of(const HyperPoint& point, const WorkloadFacts& facts) {
  return {.peak = point["learning_rate"], .warmup = facts.step_hint / 20, .total = facts.step_hint};
}

// The search space of the rules related to Adam.
inline SearchSpace adam_space(double least_one_minus_beta1, double most_one_minus_beta1, double least_decay,
                              double most_decay, std::vector<Hyperparameter> more = {}) {
  more.insert(more.begin(), {log_range("learning_rate", 1e-4, 1e-2),
                             log_range("one_minus_beta1", least_one_minus_beta1, most_one_minus_beta1),
                             log_range("weight_decay", least_decay, most_decay)});
  return SearchSpace(std::move(more));
}

struct WarmupCosineSubmission {
  auto schedule(const HyperPoint& point, const WorkloadFacts& facts) const { return warmup_cosine_of(point, facts); }
};

// Warm-up, a linear decay to end_factor times the peak over 90 % of the remaining steps, then constant. The weight
// decay is added to the gradient.
struct MomentumSubmission {
  SearchSpace search_space() const {
    return SearchSpace({log_range("learning_rate", 2e-2, 5),
                        log_range("one_minus_beta1", 5e-3, 0.3),
                        log_range("weight_decay", 1e-7, 5e-5),
                        {.name = "end_factor", .feasible = {1e-3, 1e-2}}});
  }
  auto schedule(const HyperPoint& point, const WorkloadFacts& facts) const {
    const double peak = point["learning_rate"];
    const std::uint64_t warmup = facts.step_hint / 20, decay = (facts.step_hint - warmup) * 9 / 10;
    return join(Warmup{.peak = peak, .steps = warmup}, warmup,
                Linear{.from = peak, .to = peak * point["end_factor"], .steps = decay});
  }
};

}  // namespace detail

struct AdamWBaseline : detail::WarmupCosineSubmission {
  static constexpr const char* name = "adamw";
  SearchSpace search_space() const { return detail::adam_space(2e-2, 0.5, 5e-3, 1); }
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return adamw({.beta1 = 1 - point["one_minus_beta1"], .weight_decay = point["weight_decay"]});
  }
};

struct NAdamWBaseline : detail::WarmupCosineSubmission {
  static constexpr const char* name = "nadamw";
  SearchSpace search_space() const { return detail::adam_space(4e-3, 0.1, 5e-3, 1); }
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return nadamw({.beta1 = 1 - point["one_minus_beta1"], .weight_decay = point["weight_decay"]});
  }
};

// one_minus_beta1 from 5e-2 to 0.3 as in the published file; 2e-2 to 0.5 in the paper.
struct LambBaseline : detail::WarmupCosineSubmission {
  static constexpr const char* name = "lamb";
  SearchSpace search_space() const { return detail::adam_space(5e-2, 0.3, 1e-3, 1); }
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return lamb({.beta1 = 1 - point["one_minus_beta1"], .eps = 1e-8, .weight_decay = point["weight_decay"]});
  }
};

struct AdafactorBaseline : detail::WarmupCosineSubmission {
  static constexpr const char* name = "adafactor";
  SearchSpace search_space() const { return detail::adam_space(1e-2, 0.45, 1e-3, 1); }
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return adafactor_algoperf({.beta1 = 1 - point["one_minus_beta1"], .weight_decay = point["weight_decay"]});
  }
};

struct SamBaseline : detail::WarmupCosineSubmission {
  static constexpr const char* name = "sam_adamw";
  SearchSpace search_space() const {
    return detail::adam_space(5e-2, 0.43, 1e-2, 0.2, {{.name = "rho", .feasible = {0.01, 0.02, 0.05}}});
  }
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return sam(adamw({.beta1 = 1 - point["one_minus_beta1"], .weight_decay = point["weight_decay"]}),
               {.rho = point["rho"]});
  }
};

// Shampoo on matrices, AdamW elsewhere. Include algoperf/backend/products/linear_algebra.hpp to use it.
struct ShampooBaseline : detail::WarmupCosineSubmission {
  static constexpr const char* name = "shampoo";
  SearchSpace search_space() const { return detail::adam_space(1e-2, 0.15, 5e-3, 1); }
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    const double beta1 = 1 - point["one_minus_beta1"], decay = point["weight_decay"];
    return partition(matrices, shampoo({.beta1 = beta1, .weight_decay = decay}), otherwise,
                     adamw({.beta1 = beta1, .weight_decay = decay}));
  }
};

// The learning rate stays constant after the warm-up.
struct ScheduleFreeAdamWBaseline {
  static constexpr const char* name = "schedule_free_adamw";
  SearchSpace search_space() const { return detail::adam_space(2e-2, 0.2, 5e-3, 1); }
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return schedule_free_adamw({.beta = 1 - point["one_minus_beta1"], .weight_decay = point["weight_decay"]});
  }
  auto schedule(const HyperPoint& point, const WorkloadFacts& facts) const {
    return Warmup{.peak = point["learning_rate"], .steps = facts.step_hint / 20};
  }
};

// Muon on matrices, with updates scaled as Adam's; AdamW elsewhere.
struct MuonBaseline : detail::WarmupCosineSubmission {
  static constexpr const char* name = "muon";
  SearchSpace search_space() const { return detail::adam_space(2e-2, 0.2, 5e-3, 1); }
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    const double beta1 = 1 - point["one_minus_beta1"], decay = point["weight_decay"];
    return partition(matrices, muon({.mu = beta1, .weight_decay = decay, .scale = OrthogonalScale::match_rms}),
                     otherwise, adamw({.beta1 = beta1, .weight_decay = decay}));
  }
};

// Learning rates from 2e-2 to 5 as in the published file; 0.1 to 10 in the paper.
struct HeavyBallBaseline : detail::MomentumSubmission {
  static constexpr const char* name = "heavy_ball";
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return momentum({.mu = 1 - point["one_minus_beta1"], .weight_decay = point["weight_decay"]});
  }
};

struct NesterovBaseline : detail::MomentumSubmission {
  static constexpr const char* name = "nesterov";
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return nesterov({.mu = 1 - point["one_minus_beta1"], .weight_decay = point["weight_decay"]});
  }
};

}  // namespace algoperf
