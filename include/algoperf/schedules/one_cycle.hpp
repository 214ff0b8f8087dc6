#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

enum class OneCycleAnneal { cosine, linear };

enum class OneCyclePhases {
  two,    // up, then down to the end (fast.ai; torch)
  three,  // up, down to the initial value, then down to the end (Smith & Topin; torch's three_phase)
};

namespace detail {

// The phase that contains step i, and the completed fraction of that phase (`share`). As in torch, a phase ends in a
// step that need not be an integer: the rise in step rise total - 1, the symmetric descent of three phases in step
// 2 rise total - 2, the last phase in step total - 1. A phase that ends before step 0 contains no step.
struct OneCyclePlace {
  int phase = 0;
  double share = 0;

  OneCyclePlace(std::uint64_t step, std::uint64_t total, double rise, OneCyclePhases phases) {
    const int last = phases == OneCyclePhases::three ? 2 : 1;
    const double i = static_cast<double>(step), n = static_cast<double>(total);
    const double ends[] = {rise * n - 1, last == 2 ? 2 * rise * n - 2 : n - 1, n - 1};
    double begin = 0;
    while (phase < last && i > ends[phase]) begin = ends[phase++];
    share = i < ends[phase] ? (i - begin) / (ends[phase] - begin) : 1;
  }
};

inline double anneal(OneCycleAnneal how, double from, double to, double share) {
  constexpr double pi = 3.14159265358979323846;
  if (share >= 1) return to;
  if (how == OneCycleAnneal::linear) return from + (to - from) * share;
  return to + (from - to) / 2 * (__builtin_cos(pi * share) + 1);
}

inline void check_rise(const char* name, double rise, OneCyclePhases phases) {
  const double most = phases == OneCyclePhases::three ? 0.5 : 1;
  require(rise >= 0 && rise <= most, name, ": rise is ", rise, ", expected [0, ", most, "]");
}

}  // namespace detail

// One cycle of the learning rate: up from peak / div_factor to the peak in step rise total - 1, then down to
// peak / div_factor / final_div_factor in step total - 1; it holds this final value. With three phases, it first
// descends to peak / div_factor in step 2 rise total - 2. Each phase is half a cosine or linear. A rise of less than
// one step is skipped, and the descent then starts a fraction of a step early. With total = 0, every step has the
// final value. peak is finite, rise in [0, 1] ([0, 1/2] with three phases), div_factor and final_div_factor
// in (0, inf).
// Smith & Topin 2018 (arXiv:1708.07120). Equals torch's OneCycleLR(max_lr = peak, total_steps = total, pct_start =
// rise), which throws past its end; the matching momentum is OneCycleMomentum. optax's onecycle schedules end each
// phase one step later, and round phases down to whole steps.
struct OneCycle {
  double peak = 1e-2;
  std::uint64_t total = detail::not_given;
  double rise = 0.3;
  double div_factor = 25;
  double final_div_factor = 1e4;
  OneCycleAnneal anneal = OneCycleAnneal::cosine;
  OneCyclePhases phases = OneCyclePhases::two;

  void check() const {
    require(detail::is_finite(peak), "OneCycle: peak is ", peak, ", expected a finite number");
    detail::check_rise("OneCycle", rise, phases);
    require(detail::is_finite(div_factor) && div_factor > 0, "OneCycle: div_factor is ", div_factor,
            ", expected (0, inf)");
    require(detail::is_finite(final_div_factor) && final_div_factor > 0, "OneCycle: final_div_factor is ",
            final_div_factor, ", expected (0, inf)");
    require(total != detail::not_given, "OneCycle: total is not given");
  }

  double operator()(std::uint64_t step) const {
    const detail::OneCyclePlace at(step, total, rise, phases);
    const double first = peak / div_factor, last = first / final_div_factor;
    if (at.phase == 0) return detail::anneal(anneal, first, peak, at.share);
    if (phases == OneCyclePhases::two) return detail::anneal(anneal, peak, last, at.share);
    if (at.phase == 1) return detail::anneal(anneal, peak, first, at.share);
    return detail::anneal(anneal, first, last, at.share);
  }
};

}  // namespace algoperf
