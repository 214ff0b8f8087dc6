// Decays: which are equivalent, where they begin and end, and their values at huge steps.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "../support/near.hpp"
#include "algoperf/core/error.hpp"
#include "algoperf/schedules/all.hpp"
#include "last_step.hpp"

namespace ap = algoperf;

namespace {

// Whether two schedules agree over the first steps, to relative error `relative`.
template <class A, class B>
void same(const A& a, const B& b, double relative = 0, std::uint64_t steps = 60) {
  for (std::uint64_t i = 0; i < steps; ++i) {
    CAPTURE(i);
    CHECK(std::abs(a(i) - b(i)) <= relative * std::abs(a(i)));
  }
}

}  // namespace

static_assert(ap::MultiStep{.from = 1, .milestones = {3, 6}, .factor = 0.5}(6) == 0.25);
static_assert(ap::PiecewiseConstant{.from = 1, .drops = {{3, 0.5}}}(2) == 1);

TEST_CASE("a polynomial of power 1 is a line") {
  same(ap::Polynomial{.from = 0.3, .to = 0.1, .power = 1, .steps = 40, .begin = 5},
       ap::Linear{.from = 0.3, .to = 0.1, .steps = 40, .begin = 5}, 1e-15);
}

TEST_CASE("a staircase, StepDecay, MultiStep and PiecewiseConstant can express the same schedule") {
  const ap::StepDecay steps{.from = 0.5, .factor = 0.5, .every = 20};
  same(steps, ap::Exponential{.from = 0.5, .factor = 0.5, .steps = 20, .shape = ap::ExponentialShape::staircase});
  same(steps, ap::MultiStep{.from = 0.5, .milestones = {20, 40}, .factor = 0.5});
  same(steps, ap::PiecewiseConstant{.from = 0.5, .drops = {{40, 0.5}, {20, 0.5}}});
  same(steps, ap::join(ap::Constant{0.5}, 20, ap::Constant{0.25}, 20, ap::Constant{0.125}));
}

TEST_CASE("a drop applies in its step, not after it") {
  const ap::MultiStep decay{.from = 1, .milestones = {7}, .factor = 0.1};
  CHECK(decay(6) == 1);
  CHECK(decay(7) == 0.1);
  CHECK(ap::StepDecay{.from = 1, .every = 7}(6) == 1);
  CHECK(ap::StepDecay{.from = 1, .every = 7}(7) == 0.1);
  CHECK(ap::MultiStep{.from = 1}(last_step) == 1);
  CHECK(ap::PiecewiseConstant{.from = 1}(last_step) == 1);
}

TEST_CASE("an exponential never passes its floor or its ceiling, even at huge steps") {
  const ap::Exponential falls{.from = 1, .factor = 0.5, .to = 0.1}, rises{.from = 1e-6, .factor = 2, .to = 10};
  CHECK(falls(3) == 0.125);
  CHECK(falls(4) == 0.1);
  CHECK(rises(1) == 2e-6);
  for (const std::uint64_t step : {std::uint64_t{24}, std::uint64_t{5000}, last_step}) {
    CHECK(falls(step) == 0.1);
    CHECK(rises(step) == 10);
  }
  CHECK(ap::Exponential{.from = 1, .factor = 0.5}(last_step) == 0);
  CHECK(ap::Exponential{.from = 0.3, .factor = 1}(last_step) == 0.3);
}

TEST_CASE("the noise-adaptive exponential ends at beta / steps, and holds") {
  const ap::NoiseAdaptive decay{.from = 2, .beta = 3, .steps = 300};
  CHECK(decay(0) == 2);
  CHECK(decay(150) == near(2 * 0.1, 1e-14));
  for (const std::uint64_t step : {std::uint64_t{300}, std::uint64_t{301}, last_step})
    CHECK(decay(step) == near(0.02, 1e-15));
  CHECK(decay(299) > decay(300));
  CHECK(ap::NoiseAdaptive{.from = 2, .beta = 3, .steps = 0}(0) == 6);
  CHECK(ap::NoiseAdaptive{.from = 2, .beta = 1, .steps = 1}(1) == 2);
}

TEST_CASE("an inverse square root is continuous at the end of a warm-up, and expresses other libraries' forms") {
  const auto whole = ap::join(ap::Warmup{.peak = 1, .steps = 10}, 10, ap::InverseSqrt{.peak = 1, .timescale = 10});
  CHECK(whole(9) == 0.9);
  CHECK(whole(10) == 1);
  for (std::uint64_t i = 10; i < 60; ++i) CHECK(whole(i) == near(std::sqrt(10 / static_cast<double>(i)), 1e-15));
  CHECK(ap::InverseSqrt{.peak = 1, .timescale = 5, .begin = 7}(7) == 1);
  CHECK(ap::InverseSqrt{.peak = 1, .timescale = 5, .begin = 7}(22) == 0.5);

  // init2winit's rsqrt_normalized, sqrt(s) / sqrt(t + s); sqrt(T / (i + shift)); Tensor2Tensor's 1 / sqrt(max(i, n)).
  same(
      ap::InverseSqrt{.peak = 1, .timescale = 6},
      [](std::uint64_t i) { return std::sqrt(6) / std::sqrt(static_cast<double>(i) + 6); }, 1e-15);
  same(
      ap::InverseSqrt{.peak = std::sqrt(9.0 / 4), .timescale = 4},
      [](std::uint64_t i) { return std::sqrt(9 / (static_cast<double>(i) + 4)); }, 1e-15);
  same(
      ap::InverseSqrt{.peak = 1 / std::sqrt(16), .timescale = 16, .begin = 16},
      [](std::uint64_t i) { return 1 / std::sqrt(static_cast<double>(i < 16 ? 16 : i)); }, 1e-15);
}

TEST_CASE("Noam is a warm-up and an inverse square root, joined at the peak") {
  const ap::Noam noam{.factor = 2, .width = 100, .warmup = 25};
  const double peak = 2 / std::sqrt(100.0 * 25);
  CHECK(noam(24) == near(peak, 1e-15));
  CHECK(noam(23) < noam(24));
  CHECK(noam(25) < noam(24));
  same(noam,
       ap::join(ap::Warmup{.peak = peak, .steps = 25, .start = ap::WarmupStart::one_step_off}, 24,
                ap::InverseSqrt{.peak = peak, .timescale = 25}),
       1e-15);
  CHECK(ap::Noam{.width = 4, .warmup = 0}(0) == 0.5);
  CHECK(ap::Noam{.width = 4, .warmup = 1}(0) == 0.5);
}

TEST_CASE("a trapezoid is the join of its three parts, any of which may be empty") {
  for (const std::uint64_t warmup : {0u, 1u, 10u})
    for (const std::uint64_t stable : {0u, 1u, 20u})
      for (const std::uint64_t cooldown : {0u, 1u, 15u}) {
        const ap::Trapezoid whole{.peak = 0.3,
                                  .warmup = warmup,
                                  .total = warmup + stable + cooldown,
                                  .cooldown = cooldown,
                                  .floor = 0.1,
                                  .from = 0.2};
        CHECK_NOTHROW(whole.check());
        same(whole,
             ap::join(ap::Warmup{.peak = 0.3, .steps = warmup, .from = 0.2}, warmup, ap::Constant{0.3}, stable,
                      ap::Linear{.from = 0.3, .to = 0.1, .steps = cooldown}),
             1e-15);
      }
}

TEST_CASE("the cooldown shapes begin at the peak, end at the floor, and differ in between") {
  const auto decay = [](ap::Cooldown shape, std::uint64_t step) {
    return ap::Trapezoid{.peak = 1, .warmup = 0, .total = 100, .cooldown = 100, .shape = shape}(step);
  };
  for (const ap::Cooldown shape : {ap::Cooldown::linear, ap::Cooldown::cosine, ap::Cooldown::one_minus_sqrt}) {
    CHECK(decay(shape, 0) == 1);
    CHECK(decay(shape, 100) == 0);
    for (std::uint64_t i = 0; i < 100; ++i) CHECK(decay(shape, i) > decay(shape, i + 1));
  }
  CHECK(decay(ap::Cooldown::linear, 25) == 0.75);
  CHECK(decay(ap::Cooldown::cosine, 25) == near(0.5 + std::sqrt(0.125)));
  CHECK(decay(ap::Cooldown::one_minus_sqrt, 25) == 0.5);
}
