// Submissions with a constant learning rate and no weight decay, for studies of batch sizes (batch_size_scaling.hpp).
//
// SGD, momentum and Nesterov are the algorithms of Shallue et al. 2019 (arXiv:1811.03600); AdamW and LAMB are added
// here. The ranges are ours, the same for all batch sizes. Momentum is searched by the logarithm of 1 - momentum.
#pragma once

#include <vector>

#include "../../rules/recipes/adamw.hpp"
#include "../../rules/recipes/lamb.hpp"
#include "../../rules/recipes/sgd.hpp"
#include "../../schedules/constant.hpp"
#include "../submission.hpp"

namespace algoperf {

namespace detail {

struct ConstantRate {
  auto schedule(const HyperPoint& point, const WorkloadFacts&) const { return Constant{point["learning_rate"]}; }
};

struct MomentumSpace : ConstantRate {
  SearchSpace search_space() const {
    return SearchSpace({log_range("learning_rate", 1e-3, 1), log_range("one_minus_momentum", 1e-2, 1)});
  }
  std::vector<Hyperparameter> widest_space() const { return {log_range("one_minus_momentum", 1e-5, 1)}; }
};

struct AdamSpace : ConstantRate {
  std::vector<Hyperparameter> widest_space() const { return {log_range("one_minus_beta1", 1e-5, 1)}; }
};

}  // namespace detail

struct ConstantSgd : detail::ConstantRate {
  static constexpr const char* name = "sgd";
  SearchSpace search_space() const { return SearchSpace({detail::log_range("learning_rate", 3e-3, 3)}); }
  auto rule(const HyperPoint&, const WorkloadFacts&) const { return sgd(); }
};

struct ConstantMomentum : detail::MomentumSpace {
  static constexpr const char* name = "momentum";
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return momentum({.mu = 1 - point["one_minus_momentum"]});
  }
};

struct ConstantNesterov : detail::MomentumSpace {
  static constexpr const char* name = "nesterov";
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return nesterov({.mu = 1 - point["one_minus_momentum"]});
  }
};

struct ConstantAdamW : detail::AdamSpace {
  static constexpr const char* name = "adamw";
  SearchSpace search_space() const {
    return SearchSpace({detail::log_range("learning_rate", 1e-4, 1e-1), detail::log_range("one_minus_beta1", 2e-2, 1)});
  }
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return adamw({.beta1 = 1 - point["one_minus_beta1"], .weight_decay = 0});
  }
};

struct ConstantLamb : detail::AdamSpace {
  static constexpr const char* name = "lamb";
  SearchSpace search_space() const {
    return SearchSpace({detail::log_range("learning_rate", 1e-3, 1), detail::log_range("one_minus_beta1", 2e-2, 1)});
  }
  auto rule(const HyperPoint& point, const WorkloadFacts&) const {
    return lamb({.beta1 = 1 - point["one_minus_beta1"], .weight_decay = 0});
  }
};

// Returns the effective learning rate of a point, learning_rate / (1 - momentum), or its learning rate if it has no
// momentum. Throws Error without a learning rate. Source: the same authors' plots. beta1 of Adam and LAMB is an
// average, and does not count.
inline double effective_learning_rate(const HyperPoint& point) {
  return point["learning_rate"] / point.number_or("one_minus_momentum", 1 - point.number_or("momentum", 0));
}

}  // namespace algoperf
