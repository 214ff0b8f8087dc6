#pragma once

#include "../core/require.hpp"
#include "concept.hpp"
#include "one_cycle.hpp"

namespace algoperf {

// The momentum of the one-cycle policy: low while OneCycle's learning rate is high. Falls from `high` to `low` in step
// rise total - 1, rises back to `high` in step total - 1 (with three phases, in step 2 rise total - 2), and stays
// there. Use the same total, rise, anneal and phases as for OneCycle. With total = 0, every step has the value `high`.
// high and low are finite.
//   scheduled(Momentum{}, &Momentum::mu, OneCycleMomentum{.total = 1000})
// Smith & Topin 2018 (arXiv:1708.07120). Equals torch's OneCycleLR(max_momentum = high, base_momentum = low).
struct OneCycleMomentum {
  double high = 0.95;
  double low = 0.85;
  std::uint64_t total = detail::not_given;
  double rise = 0.3;
  OneCycleAnneal anneal = OneCycleAnneal::cosine;
  OneCyclePhases phases = OneCyclePhases::two;

  void check() const {
    require(detail::is_finite(high), "OneCycleMomentum: high is ", high, ", expected a finite number");
    require(detail::is_finite(low), "OneCycleMomentum: low is ", low, ", expected a finite number");
    detail::check_rise("OneCycleMomentum", rise, phases);
    require(total != detail::not_given, "OneCycleMomentum: total is not given");
  }

  double operator()(std::uint64_t step) const {
    const detail::OneCyclePlace at(step, total, rise, phases);
    if (at.phase == 2) return high;
    return at.phase == 0 ? detail::anneal(anneal, high, low, at.share) : detail::anneal(anneal, low, high, at.share);
  }
};

}  // namespace algoperf
