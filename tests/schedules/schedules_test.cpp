#include <doctest/doctest.h>

#include <cstdint>

#include "../support/near.hpp"
#include "algoperf/core/error.hpp"
#include "algoperf/schedules/all.hpp"

namespace ap = algoperf;

static_assert(ap::Schedule<decltype([](std::uint64_t step) { return 1.0 / static_cast<double>(step + 1); })>);
static_assert(ap::Schedule<double (*)(std::uint64_t)>);
static_assert(!ap::Schedule<double>);
static_assert(!ap::Schedule<decltype([] { return 1.0; })>);
static_assert(ap::Linear{.from = 1, .to = 2, .steps = 4}(2) == 1.5);

TEST_CASE("the offset of a warm-up") {
  const std::uint64_t W = 5;
  const ap::Warmup optax{.peak = 2, .steps = W};
  CHECK(optax(0) == 0);
  CHECK(optax(W - 1) == near(1.6));
  CHECK(optax(W) == 2);

  const ap::Warmup llm_c{.peak = 2, .steps = W, .start = ap::WarmupStart::one_step_off};
  CHECK(llm_c(0) == 2.0 / W);
  CHECK(llm_c(W - 1) == 2);
  CHECK(llm_c(W) == 2);

  const ap::Warmup torch{.peak = 2, .steps = W, .from = 0.5 * 2};
  CHECK(torch(0) == 1);
  CHECK(torch(W) == 2);

  // From 1 / W to the peak in step W; from a start factor to the peak one step early; both.
  const ap::Warmup from_first{.peak = 2, .steps = W, .from = 2.0 / W};
  CHECK(from_first(0) == 2.0 / W);
  CHECK(from_first(W) == 2);
  const ap::Warmup early{.peak = 2, .steps = W - 1, .from = 1};
  CHECK(early(0) == 1);
  CHECK(early(W - 2) < 2);
  CHECK(early(W - 1) == 2);
  const ap::Warmup both{.peak = 2, .steps = W, .from = 1, .start = ap::WarmupStart::one_step_off};
  CHECK(both(0) == near(1.2));
  CHECK(both(W - 1) == 2);

  const ap::WarmupCosine whole{.peak = 2, .warmup = W, .total = 15, .start = ap::WarmupStart::one_step_off};
  for (std::uint64_t i = 0; i < W; ++i) CHECK(whole(i) == llm_c(i));
  CHECK(whole(W) == 2);
  CHECK(whole(10) == near(1));
  CHECK(whole(15) == 0);
}

TEST_CASE("warmup_cosine is the join of its two parts") {
  const ap::WarmupCosine whole{.peak = 0.3, .warmup = 100, .total = 1000, .floor = 0.01, .from = 0.002};
  const auto parts = ap::join(ap::Warmup{.peak = 0.3, .steps = 100, .from = 0.002}, 100,
                              ap::Cosine{.peak = 0.3, .floor = 0.01, .steps = 900});
  for (std::uint64_t i = 0; i < 1100; ++i) CHECK(whole(i) == parts(i));
}

TEST_CASE("each schedule of a join counts steps from its own beginning") {
  const auto joined = ap::join(
      ap::Constant{1}, 3, [](std::uint64_t i) { return 10.0 + static_cast<double>(i); }, 2, ap::Constant{5});
  const double expected[] = {1, 1, 1, 10, 11, 5, 5};
  for (std::uint64_t i = 0; i < 7; ++i) CHECK(joined(i) == expected[i]);
}

TEST_CASE("a cosine is symmetric about its middle and never leaves its range") {
  const ap::Cosine cosine{.peak = 3, .floor = 1, .steps = 1000};
  for (std::uint64_t i = 0; i <= 1000; ++i) {
    CHECK(cosine(i) + cosine(1000 - i) == near(4, 1e-14));
    CHECK(cosine(i) <= 3);
    CHECK(cosine(i) >= 1);
  }
}
