// The contract of every schedule. Its values are finite and depend on the step only. At its end and at every later step
// it returns its last value. A schedule without an end stays between two values.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "algoperf/core/error.hpp"
#include "algoperf/schedules/all.hpp"

namespace ap = algoperf;

namespace {

template <class S>
struct Member {
  const char* name;
  S schedule;
  std::uint64_t end;  // the first step from which on the schedule returns `last`
  double last;
};
template <class S>
Member(const char*, S, std::uint64_t, double) -> Member<S>;

ap::TwoScaleBatch two_scale_batch() {
  return {.first = 8, .most = 64, .rate = 0.1, .smoothness = 1, .strong_convexity = 1, .variance = 1, .gap = 1};
}

auto schedule_members() {
  constexpr std::uint64_t far = std::uint64_t{1} << 40;
  return std::tuple{
      Member{"constant", ap::Constant{.value = 0.5}, 0, 0.5},
      Member{"linear", ap::Linear{.from = 0.1, .to = 0.01, .steps = 10, .begin = 3}, 13, 0.01},
      Member{"linear, no steps", ap::Linear{.from = 1, .to = 2, .steps = 0, .begin = 5}, 5, 2},
      Member{"linear, long", ap::Linear{.from = 1, .to = 0, .steps = far}, far, 0},
      Member{"cosine", ap::Cosine{.peak = 1, .floor = 0.1, .steps = 10}, 10, 0.1},
      Member{"cosine, no steps", ap::Cosine{.peak = 1, .floor = 0.1, .steps = 0}, 0, 0.1},
      Member{"warmup", ap::Warmup{.peak = 1, .steps = 7}, 7, 1},
      Member{"warmup, no steps", ap::Warmup{.peak = 1, .steps = 0, .start = ap::WarmupStart::one_step_off}, 0, 1},
      Member{"warmup_cosine", ap::WarmupCosine{.peak = 1, .warmup = 4, .total = 12, .floor = 0.1}, 12, 0.1},
      Member{"warmup_cosine, warmup only", ap::WarmupCosine{.peak = 1, .warmup = 4, .total = 4}, 4, 0},
      Member{"warmup_cosine, no steps", ap::WarmupCosine{.peak = 1, .warmup = 0, .total = 0, .floor = 0.2}, 0, 0.2},
      Member{"join",
             ap::join(ap::Warmup{.peak = 1, .steps = 4}, 4, ap::Constant{1}, 5,
                      ap::Linear{.from = 1, .to = 0.5, .steps = 3}),
             12, 0.5},
      Member{"join, no steps", ap::join(ap::Constant{3}, 0, ap::Constant{4}), 0, 4},
      Member{"polynomial", ap::Polynomial{.from = 1, .to = 0.1, .power = 2, .steps = 10, .begin = 3}, 13, 0.1},
      Member{"polynomial, no steps", ap::Polynomial{.from = 1, .to = 2, .steps = 0, .begin = 5}, 5, 2},
      Member{"cosine, two waves", ap::Cosine{.peak = 1, .steps = 10, .cycles = 2}, 10, 1},
      Member{"warm_restarts", ap::WarmRestarts{.peak = 1, .floor = 0.1, .first = 3, .multiplier = 2, .cycles = 4}, 45,
             0.1},
      Member{"warm_restarts, no steps", ap::WarmRestarts{.peak = 1, .floor = 0.1, .first = 0}, 0, 0.1},
      Member{"multi_step", ap::MultiStep{.from = 1, .milestones = {20, 10}, .factor = 0.5}, 20, 0.25},
      Member{"multi_step, no milestones", ap::MultiStep{.from = 1}, 0, 1},
      Member{"piecewise_constant", ap::PiecewiseConstant{.from = 1, .drops = {{5, 0.5}, {9, 0.5}}}, 9, 0.25},
      Member{"exponential to a floor", ap::Exponential{.from = 1, .factor = 0.5, .steps = 3, .to = 0.25}, 6, 0.25},
      Member{"exponential to a ceiling", ap::Exponential{.from = 1, .factor = 2, .steps = 3, .begin = 4, .to = 4}, 10,
             4},
      Member{"noise_adaptive", ap::NoiseAdaptive{.from = 1, .beta = 2, .steps = 16}, 16, 0.125},
      Member{"noise_adaptive, no steps", ap::NoiseAdaptive{.from = 1, .beta = 2, .steps = 0}, 0, 2},
      Member{"trapezoid", ap::Trapezoid{.peak = 1, .warmup = 4, .total = 20, .cooldown = 6, .floor = 0.1}, 20, 0.1},
      Member{"trapezoid, no steps", ap::Trapezoid{.peak = 1, .warmup = 0, .total = 0, .cooldown = 0}, 0, 0},
      Member{"one_cycle", ap::OneCycle{.peak = 1, .total = 20, .div_factor = 2, .final_div_factor = 2}, 19, 0.25},
      Member{"one_cycle, no steps", ap::OneCycle{.peak = 1, .total = 0, .div_factor = 2, .final_div_factor = 2}, 0,
             0.25},
      Member{"one_cycle_momentum", ap::OneCycleMomentum{.total = 20, .phases = ap::OneCyclePhases::three}, 19, 0.95},
      Member{"plateau, no feedback", ap::Plateau{.peak = 0.5}, 0, 0.5},
      Member{"growing_batch", ap::GrowingBatch{.first = 8, .factor = 2, .every = 5, .most = 64}, 15, 64},
      Member{"two_scale_batch", two_scale_batch(), 100, 64},
      Member{"noise_scale_batch, no observations", ap::NoiseScaleBatch{.least = 8}, 0, 8},
      Member{"norm_test_batch, no observations", ap::NormTestBatch{.least = 8}, 0, 8},
      Member{"inner_product_batch, no observations", ap::InnerProductBatch{.least = 8}, 0, 8},
  };
}

// Schedules without an end: they start at 1 in step 0, never increase, and never fall below `last`.
auto endless_members() {
  return std::tuple{
      Member{"inverse_sqrt", ap::InverseSqrt{.peak = 1, .timescale = 10, .begin = 3}, 0, 0},
      Member{"step_decay", ap::StepDecay{.from = 1, .factor = 0.5, .every = 3}, 0, 0},
      Member{"exponential", ap::Exponential{.from = 1, .factor = 0.99}, 0, 0},
      Member{"noam, no warmup", ap::Noam{.width = 1, .warmup = 0}, 0, 0},
  };
}

template <class F>
void for_each_schedule(const F& f) {
  std::apply([&](const auto&... members) { (f(members), ...); }, schedule_members());
}

}  // namespace

TEST_CASE("every schedule satisfies its contract") {
  for_each_schedule([](const auto& member) {
    INFO("schedule: ", std::string(member.name));
    static_assert(ap::Schedule<std::remove_cvref_t<decltype(member.schedule)>>);
    CHECK_NOTHROW(member.schedule.check());

    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t step : {member.end, member.end + 1, member.end + 1000, most - 1, most})
      CHECK(member.schedule(step) == member.last);

    const std::uint64_t stride = member.end / 50 + 1;
    std::vector<double> forward, backward;
    for (std::uint64_t i = 0; i < 60; ++i) {
      forward.push_back(static_cast<double>(member.schedule(i * stride)));
      CHECK(std::isfinite(forward.back()));
    }
    for (std::uint64_t i = 60; i-- > 0;)
      backward.insert(backward.begin(), static_cast<double>(member.schedule(i * stride)));
    CHECK(forward == backward);
  });
}

TEST_CASE("a schedule without an end never increases") {
  const auto check = [](const auto& member) {
    INFO("schedule: ", std::string(member.name));
    CHECK_NOTHROW(member.schedule.check());
    double before = member.schedule(0);
    CHECK(before == 1);
    for (std::uint64_t step = 1; step >> 63 == 0; step *= 2)
      for (const std::uint64_t near : {step - 1, step, step + 1}) {
        const double value = member.schedule(near);
        CHECK(value <= (near < step ? 1 : before));
        CHECK(value >= member.last);
        before = value;
      }
    CHECK(member.schedule(std::numeric_limits<std::uint64_t>::max()) <= before);
  };
  std::apply([&](const auto&... members) { (check(members), ...); }, endless_members());
}

TEST_CASE("an invalid option throws an Error that names the field") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const auto refused = [](const auto& schedule, const char* sentence) {
    CHECK_THROWS_WITH_AS(schedule.check(), sentence, ap::Error);
  };
  refused(ap::Constant{nan}, "Constant: value is nan, expected a finite number");
  refused(ap::Constant{}, "Constant: value is nan, expected a finite number");
  refused(ap::Linear{.from = 1}, "Linear: steps is not given");
  refused(ap::Cosine{.peak = 1}, "Cosine: steps is not given");
  refused(ap::Polynomial{}, "Polynomial: steps is not given");
  refused(ap::NoiseAdaptive{}, "NoiseAdaptive: steps is not given");
  refused(ap::OneCycle{}, "OneCycle: total is not given");
  refused(ap::OneCycleMomentum{}, "OneCycleMomentum: total is not given");
  refused(ap::Linear{.from = inf}, "Linear: from is inf, expected a finite number");
  refused(ap::Linear{.to = -inf}, "Linear: to is -inf, expected a finite number");
  refused(ap::Cosine{.peak = nan}, "Cosine: peak is nan, expected a finite number");
  refused(ap::Cosine{.floor = inf}, "Cosine: floor is inf, expected a finite number");
  refused(ap::Warmup{.peak = inf}, "Warmup: peak is inf, expected a finite number");
  refused(ap::Warmup{.from = nan}, "Warmup: from is nan, expected a finite number");
  refused(ap::WarmupCosine{.warmup = 5, .total = 4}, "WarmupCosine: warmup is 5, expected at most total, which is 4");
  refused(ap::WarmupCosine{.floor = nan}, "WarmupCosine: floor is nan, expected a finite number");
  const int negative = -4;
  refused(ap::join(ap::Constant{1}, negative, ap::Constant{2}),
          "join: a schedule has a negative number of steps, expected at least 0");
  refused(ap::join(ap::Constant{1}, 2, ap::Constant{nan}), "Constant: value is nan, expected a finite number");

  refused(ap::Cosine{.cycles = -1}, "Cosine: cycles is -1, expected [0, inf)");
  refused(ap::Polynomial{.from = nan}, "Polynomial: from is nan, expected a finite number");
  refused(ap::Polynomial{.to = inf}, "Polynomial: to is inf, expected a finite number");
  refused(ap::Polynomial{.power = 0}, "Polynomial: power is 0, expected (0, inf)");
  refused(ap::WarmRestarts{.peak = nan}, "WarmRestarts: peak is nan, expected a finite number");
  refused(ap::WarmRestarts{.floor = inf}, "WarmRestarts: floor is inf, expected a finite number");
  refused(ap::WarmRestarts{.multiplier = 0}, "WarmRestarts: multiplier is 0, expected at least 1");
  refused(ap::WarmRestarts{.peak_factor = 1.5}, "WarmRestarts: peak_factor is 1.5, expected [0, 1]");
  refused(ap::InverseSqrt{.peak = nan}, "InverseSqrt: peak is nan, expected a finite number");
  refused(ap::InverseSqrt{.timescale = 0}, "InverseSqrt: timescale is 0, expected (0, inf)");
  refused(ap::Noam{.factor = inf}, "Noam: factor is inf, expected a finite number");
  refused(ap::Noam{.width = 0}, "Noam: width is 0, expected (0, inf)");
  refused(ap::StepDecay{.from = nan}, "StepDecay: from is nan, expected a finite number");
  refused(ap::StepDecay{.factor = 1.1}, "StepDecay: factor is 1.1, expected [0, 1]");
  refused(ap::StepDecay{.every = 0}, "StepDecay: every is 0, expected at least 1");
  refused(ap::MultiStep{.from = nan}, "MultiStep: from is nan, expected a finite number");
  refused(ap::MultiStep{.factor = -1}, "MultiStep: factor is -1, expected [0, inf)");
  refused(ap::MultiStep{.milestones = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}},
          "MultiStep: there are 17 milestones, expected at most 16");
  refused(ap::PiecewiseConstant{.from = nan}, "PiecewiseConstant: from is nan, expected a finite number");
  refused(ap::PiecewiseConstant{.drops = {{5, 0.1}, {9, -2}}},
          "PiecewiseConstant: the factor at step 9 is -2, expected [0, inf)");
  refused(ap::Exponential{.from = 0}, "Exponential: from is 0, expected (0, inf)");
  refused(ap::Exponential{.factor = 0}, "Exponential: factor is 0, expected (0, inf)");
  refused(ap::Exponential{.steps = 0}, "Exponential: steps is 0, expected at least 1");
  refused(ap::Exponential{.from = 1, .to = 2}, "Exponential: to is 2, expected [0, from], and from is 1");
  refused(ap::Exponential{.from = 1, .factor = 2},
          "Exponential: to is 0, expected a finite number of at least from, which is 1, since the factor is above 1");
  refused(ap::NoiseAdaptive{.from = nan}, "NoiseAdaptive: from is nan, expected a finite number");
  refused(ap::NoiseAdaptive{.beta = 0}, "NoiseAdaptive: beta is 0, expected (0, inf)");
  refused(ap::Trapezoid{.warmup = 5, .total = 4}, "Trapezoid: warmup is 5, expected at most total, which is 4");
  refused(ap::Trapezoid{.warmup = 5, .total = 9, .cooldown = 5},
          "Trapezoid: cooldown is 5, expected at most total - warmup, which is 4");
  refused(ap::Trapezoid{.peak = nan}, "Trapezoid: peak is nan, expected a finite number");
  refused(ap::Trapezoid{.floor = inf}, "Trapezoid: floor is inf, expected a finite number");
  refused(ap::Trapezoid{.from = inf}, "Trapezoid: from is inf, expected a finite number");
  refused(ap::OneCycle{.peak = nan}, "OneCycle: peak is nan, expected a finite number");
  refused(ap::OneCycle{.rise = 1.5}, "OneCycle: rise is 1.5, expected [0, 1]");
  refused(ap::OneCycle{.rise = 0.6, .phases = ap::OneCyclePhases::three}, "OneCycle: rise is 0.6, expected [0, 0.5]");
  refused(ap::OneCycle{.div_factor = 0}, "OneCycle: div_factor is 0, expected (0, inf)");
  refused(ap::OneCycle{.final_div_factor = inf}, "OneCycle: final_div_factor is inf, expected (0, inf)");
  refused(ap::OneCycleMomentum{.high = nan}, "OneCycleMomentum: high is nan, expected a finite number");
  refused(ap::OneCycleMomentum{.low = nan}, "OneCycleMomentum: low is nan, expected a finite number");
  refused(ap::OneCycleMomentum{.rise = -1}, "OneCycleMomentum: rise is -1, expected [0, 1]");
  refused(ap::Plateau{.peak = nan}, "Plateau: peak is nan, expected a finite number");
  refused(ap::Plateau{.peak = 1, .floor = 2},
          "Plateau: floor is 2, expected a finite number of at most peak, which is 1");
  refused(ap::Plateau{.factor = 1}, "Plateau: factor is 1, expected (0, 1)");
  refused(ap::Plateau{.threshold = -1}, "Plateau: threshold is -1, expected [0, inf)");
  refused(ap::join(ap::Constant{1}, 2, ap::Plateau{.factor = 0}), "Plateau: factor is 0, expected (0, 1)");
  refused(ap::GrowingBatch{.first = 0}, "GrowingBatch: first is 0, expected 1 to most, which is 8192");
  refused(ap::GrowingBatch{.first = 9, .most = 8}, "GrowingBatch: first is 9, expected 1 to most, which is 8");
  refused(ap::GrowingBatch{.factor = 0.5}, "GrowingBatch: factor is 0.5, expected [1, inf)");
  refused(ap::GrowingBatch{.every = 0}, "GrowingBatch: every is 0, expected at least 1");
  refused(ap::NoiseScaleBatch{.least = 1}, "NoiseScaleBatch: least is 1, expected 2 to most, which is 8192");
  refused(ap::NoiseScaleBatch{.least = 9, .most = 8}, "NoiseScaleBatch: least is 9, expected 2 to most, which is 8");
  refused(ap::NoiseScaleBatch{.share = 0}, "NoiseScaleBatch: share is 0, expected (0, inf)");
  const auto refused_two_scale = [&](auto change, const char* message) {
    ap::TwoScaleBatch batch = two_scale_batch();
    change(batch);
    refused(batch, message);
  };
  using Batch = ap::TwoScaleBatch;
  refused_two_scale([](Batch& b) { b.first = 0; }, "TwoScaleBatch: first is 0, expected 1 to most, which is 64");
  refused_two_scale([](Batch& b) { b.factor = 1; }, "TwoScaleBatch: factor is 1, expected (1, inf)");
  refused_two_scale(
      [](Batch& b) { b.strong_convexity = 2; },
      "TwoScaleBatch: strong_convexity and smoothness are 2 and 1, expected 0 < strong_convexity <= smoothness");
  refused_two_scale([](Batch& b) { b.rate = 2; }, "TwoScaleBatch: rate is 2, expected (0, 1 / smoothness]");
  refused_two_scale([](Batch& b) { b.variance = 0; }, "TwoScaleBatch: variance is 0, expected (0, inf)");
  refused_two_scale([](Batch& b) { b.gap = 0; }, "TwoScaleBatch: gap is 0, expected (0, inf)");
  refused(ap::NormTestBatch{.least = 1}, "NormTestBatch: least is 1, expected 2 to most, which is 8192");
  refused(ap::NormTestBatch{.theta = 0}, "NormTestBatch: theta is 0, expected (0, inf)");
  refused(ap::NormTestBatch{.patience = 0}, "NormTestBatch: patience is 0, expected at least 1");
  refused(ap::InnerProductBatch{.most = 8}, "InnerProductBatch: least is 32, expected 2 to most, which is 8");
  refused(ap::InnerProductBatch{.nu = -1}, "InnerProductBatch: nu is -1, expected (0, inf)");
  refused(ap::NoiseScaleBatch{.noise = {.decay = 1}}, "NoiseScale: decay is 1, expected [0, 1)");
}
