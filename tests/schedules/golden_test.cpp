// Compares every row of tests/golden/schedules.hpp with a schedule.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>

#include "../golden/schedules.hpp"
#include "algoperf/core/error.hpp"
#include "algoperf/schedules/all.hpp"

namespace ap = algoperf;

namespace {

// The tolerance of a value: `absolute`, for values of at most 1, and `relative` times its magnitude.
struct Tolerance {
  double absolute = 3e-16, relative = 1;
};
constexpr Tolerance closed{}, recurrence{.absolute = 1e-15}, falling{.absolute = 1e-15, .relative = 2e-13};

class Tables {
 public:
  template <class S>
  void check(const char* name, const S& schedule, Tolerance tolerance = closed) {
    bool found = false;
    for (const golden::Table& table : golden::schedules) {
      if (std::strcmp(table.name, name) != 0) continue;
      found = true;
      claimed_.insert(name);
      for (int i = 0; i < table.count; ++i) {
        CAPTURE(table.reference);
        CAPTURE(table.steps[i]);
        const double error = std::abs(schedule(static_cast<std::uint64_t>(table.steps[i])) - table.values[i]);
        CHECK(error <= tolerance.absolute);
        CHECK(error <= tolerance.relative * std::abs(table.values[i]));
      }
    }
    CAPTURE(std::string(name));
    CHECK(found);
  }
  std::size_t claimed() const { return claimed_.size(); }

 private:
  std::set<std::string> claimed_;
};

void check_optax(Tables& tables) {
  tables.check("linear", ap::Linear{.from = 0.1, .to = 0.01, .steps = 10});
  tables.check("linear_begin", ap::Linear{.from = 0.1, .to = 0.01, .steps = 10, .begin = 3});
  tables.check("cosine", ap::Cosine{.peak = 1, .floor = 0.1, .steps = 10});
  tables.check("warmup_cosine", ap::WarmupCosine{.peak = 1, .warmup = 4, .total = 12, .floor = 0.1});
  tables.check("warmup_cosine_no_warmup", ap::WarmupCosine{.peak = 1, .warmup = 0, .total = 12, .floor = 0.1});
  tables.check("join", ap::join(ap::Linear{.from = 0, .to = 1, .steps = 4}, 4, ap::Cosine{.peak = 1, .steps = 8}));
  tables.check("polynomial", ap::Polynomial{.from = 1, .to = 0.1, .power = 2, .steps = 10, .begin = 2});
  tables.check("polynomial_half", ap::Polynomial{.from = 0.1, .to = 1, .power = 0.5, .steps = 7});
  tables.check("polynomial_one_step", ap::Polynomial{.from = 1, .to = 0.1, .power = 3, .steps = 1, .begin = 4});
  const ap::WarmRestarts sgdr{.peak = 1, .floor = 0.1, .first = 3, .multiplier = 2, .peak_factor = 0.5, .cycles = 3};
  tables.check("sgdr", sgdr);
  tables.check("piecewise", ap::PiecewiseConstant{.from = 1, .drops = {{3, 0.1}, {6, 0.5}}});
  tables.check("piecewise_at_0", ap::PiecewiseConstant{.from = 1, .drops = {{6, 0.1}, {0, 0.5}}});
  tables.check("exponential", ap::Exponential{.from = 1, .factor = 0.5, .steps = 4}, falling);
  constexpr ap::ExponentialShape staircase = ap::ExponentialShape::staircase;
  tables.check("exponential_staircase",
               ap::Exponential{.from = 1, .factor = 0.5, .steps = 4, .begin = 2, .shape = staircase}, falling);
  tables.check("exponential_floor", ap::Exponential{.from = 1, .factor = 0.5, .steps = 4, .begin = 2, .to = 0.2});
  tables.check("exponential_ceiling", ap::Exponential{.from = 0.01, .factor = 3, .steps = 2, .to = 0.5});
  tables.check("trapezoid", ap::Trapezoid{.peak = 1, .warmup = 4, .total = 14, .cooldown = 5, .floor = 0.1});
}

void check_torch(Tables& tables) {
  const ap::Warmup warmup{.peak = 1, .steps = 4, .from = 0.1};
  tables.check("torch_linear", warmup, recurrence);
  tables.check("torch_cosine", ap::Cosine{.peak = 1, .steps = 8}, recurrence);
  tables.check("torch_sequential", ap::join(warmup, 4, ap::Cosine{.peak = 1, .steps = 8}), recurrence);
  tables.check("torch_sequential", ap::WarmupCosine{.peak = 1, .warmup = 4, .total = 12, .from = 0.1}, recurrence);
  tables.check("torch_polynomial", ap::Polynomial{.from = 1, .power = 2, .steps = 4}, recurrence);
  tables.check("torch_restarts", ap::WarmRestarts{.peak = 1, .floor = 0.1, .first = 3, .multiplier = 2});
  tables.check("torch_restarts_equal", ap::WarmRestarts{.peak = 1, .first = 4});
  tables.check("torch_restarts_one", ap::WarmRestarts{.peak = 1, .first = 1, .multiplier = 3});
  tables.check("torch_step", ap::StepDecay{.from = 1, .factor = 0.1, .every = 3}, falling);
  tables.check("torch_step_one", ap::StepDecay{.from = 1, .factor = 0.9, .every = 1}, falling);
  tables.check("torch_multi_step", ap::MultiStep{.from = 1, .milestones = {2, 5}});
  tables.check("torch_multi_step_twice", ap::MultiStep{.from = 1, .milestones = {5, 2, 2}, .factor = 0.5});
  tables.check("torch_multi_step_at_0", ap::MultiStep{.from = 1, .milestones = {0, 5}, .factor = 0.5});
  tables.check("torch_exponential", ap::Exponential{.from = 1, .factor = 0.9}, falling);
  tables.check("noise_adaptive", ap::NoiseAdaptive{.from = 1, .beta = 2, .steps = 20}, falling);

  using enum ap::OneCycleAnneal;
  using enum ap::OneCyclePhases;
  tables.check("one_cycle", ap::OneCycle{.peak = 1, .total = 10});
  tables.check("one_cycle_momentum", ap::OneCycleMomentum{.total = 10});
  const ap::OneCycle flat{
      .peak = 1, .total = 13, .rise = 0.25, .div_factor = 10, .final_div_factor = 100, .anneal = linear};
  tables.check("one_cycle_linear", flat);
  tables.check("one_cycle_momentum_linear", ap::OneCycleMomentum{.total = 13, .rise = 0.25, .anneal = linear});
  tables.check("one_cycle_three", ap::OneCycle{.peak = 1, .total = 20, .phases = three});
  tables.check("one_cycle_momentum_three", ap::OneCycleMomentum{.total = 20, .phases = three});
  tables.check("one_cycle_three_linear",
               ap::OneCycle{.peak = 1, .total = 17, .rise = 0.4, .anneal = linear, .phases = three});
  tables.check("one_cycle_momentum_three_linear",
               ap::OneCycleMomentum{.total = 17, .rise = 0.4, .anneal = linear, .phases = three});
  tables.check("one_cycle_no_rise", ap::OneCycle{.peak = 1, .total = 8, .rise = 0});
  tables.check("one_cycle_momentum_no_rise", ap::OneCycleMomentum{.total = 8, .rise = 0});
  tables.check("one_cycle_all_rise", ap::OneCycle{.peak = 1, .total = 8, .rise = 1});
  tables.check("one_cycle_momentum_all_rise", ap::OneCycleMomentum{.total = 8, .rise = 1});
  tables.check("one_cycle_one_step", ap::OneCycle{.peak = 1, .total = 1});
  tables.check("one_cycle_momentum_one_step", ap::OneCycleMomentum{.total = 1});
  tables.check("one_cycle_two_steps", ap::OneCycle{.peak = 1, .total = 2});
  tables.check("one_cycle_momentum_two_steps", ap::OneCycleMomentum{.total = 2});
}

void check_hugging_face(Tables& tables) {
  const ap::Warmup warmup{.peak = 1, .steps = 4};
  tables.check("hf_warmup", warmup);
  tables.check("hf_no_warmup", ap::Warmup{.peak = 1, .steps = 0});
  tables.check("hf_linear", ap::join(warmup, 4, ap::Linear{.from = 1, .to = 0, .steps = 8}));
  tables.check("hf_linear_all_warmup", ap::join(warmup, 4, ap::Linear{.from = 1, .to = 0, .steps = 0}));
  tables.check("hf_cosine_cycles", ap::join(warmup, 4, ap::Cosine{.peak = 1, .steps = 8, .cycles = 1.5}));
  tables.check("hf_cosine_floor", ap::Cosine{.peak = 1, .floor = 0.1, .steps = 12, .cycles = 1});
  tables.check("hf_hard_restarts", ap::join(warmup, 4, ap::WarmRestarts{.peak = 1, .first = 4, .cycles = 3}));
  tables.check("hf_polynomial", ap::join(warmup, 4, ap::Polynomial{.from = 1, .to = 0.1, .power = 2, .steps = 8}));
  tables.check("hf_inverse_sqrt", ap::join(warmup, 4, ap::InverseSqrt{.peak = 1, .timescale = 4}));
  tables.check("hf_inverse_sqrt_timescale", ap::join(warmup, 4, ap::InverseSqrt{.peak = 1, .timescale = 9}));
  tables.check("hf_inverse_sqrt_no_warmup", ap::InverseSqrt{.peak = 1, .timescale = 10000});

  const auto wsd = [](ap::Cooldown shape) {
    return ap::Trapezoid{.peak = 1, .warmup = 4, .total = 14, .cooldown = 5, .shape = shape, .floor = 0.1, .from = 0.1};
  };
  tables.check("hf_wsd_linear", wsd(ap::Cooldown::linear));
  tables.check("hf_wsd_cosine", wsd(ap::Cooldown::cosine));
  tables.check("hf_wsd_1_sqrt", wsd(ap::Cooldown::one_minus_sqrt));
  tables.check(
      "hf_wsd_no_warmup",
      ap::Trapezoid{.peak = 1, .warmup = 0, .total = 14, .cooldown = 6, .shape = ap::Cooldown::one_minus_sqrt});
  tables.check("hf_wsd_no_stable", ap::Trapezoid{.peak = 1, .warmup = 4, .total = 10, .cooldown = 6});
  tables.check("hf_wsd_no_decay", ap::Trapezoid{.peak = 1, .warmup = 4, .total = 10, .cooldown = 0});
  tables.check("hf_wsd_nothing", ap::Trapezoid{.peak = 1, .warmup = 0, .total = 0, .cooldown = 0, .floor = 0.1});
}

void check_formulas(Tables& tables) {
  tables.check("noam", ap::Noam{.width = 512, .warmup = 4});
  constexpr ap::WarmupStart one_step_off = ap::WarmupStart::one_step_off;
  tables.check("llm_c_cosine",
               ap::WarmupCosine{.peak = 1, .warmup = 4, .total = 12, .floor = 0.1, .start = one_step_off});
  tables.check("llm_c_wsd", ap::Trapezoid{.peak = 1,
                                          .warmup = 4,
                                          .total = 15,
                                          .cooldown = 3,
                                          .shape = ap::Cooldown::one_minus_sqrt,
                                          .floor = 0.1,
                                          .start = one_step_off});
}

}  // namespace

TEST_CASE("schedules match the values of optax, torch and Hugging Face, and of formulas in papers") {
  Tables tables;
  check_optax(tables);
  check_torch(tables);
  check_hugging_face(tables);
  check_formulas(tables);
  CHECK(tables.claimed() == std::size(golden::schedules));
}
