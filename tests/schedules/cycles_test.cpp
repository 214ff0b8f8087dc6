// Cyclic schedules: cosines of several waves, warm restarts, one-cycle.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

#include "../support/near.hpp"
#include "algoperf/core/error.hpp"
#include "algoperf/schedules/all.hpp"
#include "last_step.hpp"

namespace ap = algoperf;

TEST_CASE("a cosine of several waves holds its last value") {
  const ap::Cosine whole{.peak = 1, .floor = 0.2, .steps = 8, .cycles = 1};
  CHECK(whole(4) == near(0.2));
  for (const std::uint64_t step : {std::uint64_t{8}, std::uint64_t{9}, last_step}) CHECK(whole(step) == 1);
  const ap::Cosine three_halves{.peak = 1, .floor = 0.2, .steps = 9, .cycles = 1.5};
  CHECK(three_halves(3) == near(0.2));
  CHECK(three_halves(6) == near(1));
  CHECK(three_halves(9) == 0.2);
  CHECK(ap::Cosine{.peak = 1, .steps = 9, .cycles = 0}(5) == 1);
  CHECK(ap::Cosine{.peak = 1, .floor = 0.2, .steps = 0, .cycles = 1}(0) == 1);
}

TEST_CASE("each restart is a complete half cosine of any length") {
  const ap::WarmRestarts restarts{.peak = 1, .floor = 0.1, .first = 5, .multiplier = 3, .peak_factor = 0.5};
  std::uint64_t begin = 0, length = 5;
  double peak = 1;
  for (int cycle = 0; cycle < 5; ++cycle, begin += length, length *= 3, peak = 0.1 + 0.5 * (peak - 0.1)) {
    const ap::Cosine wave{.peak = peak, .floor = 0.1, .steps = length};
    for (std::uint64_t i = 0; i < length; ++i) CHECK(restarts(begin + i) == near(wave(i), 1e-15));
  }
}

TEST_CASE("restarts end after their last cycle, and are counted correctly at huge steps") {
  const ap::WarmRestarts twice{.peak = 1, .floor = 0.1, .first = 5, .multiplier = 2, .cycles = 2};
  CHECK(twice(4) > 0.1);
  CHECK(twice(5) == 1);
  CHECK(twice(14) > 0.1);
  for (const std::uint64_t step : {std::uint64_t{15}, std::uint64_t{16}, last_step}) CHECK(twice(step) == 0.1);
  CHECK(ap::WarmRestarts{.peak = 1, .floor = 0.1, .first = 5, .cycles = 0}(0) == 0.1);
  CHECK(ap::WarmRestarts{.peak = 1, .floor = 0.1, .first = 0}(0) == 0.1);

  const ap::WarmRestarts equal{.peak = 1, .first = 1000};
  CHECK(equal(last_step / 1000 * 1000) == 1);
  const ap::WarmRestarts doubled{.peak = 1, .first = 1, .multiplier = 2};
  CHECK(doubled((std::uint64_t{1} << 62) - 1) == 1);
  CHECK(doubled((std::uint64_t{1} << 63) - 1) == 1);
  CHECK(doubled(last_step) == 1);  // 2^64 - 1, where cycle 64 begins
  const ap::WarmRestarts steep{.peak = 1, .first = 1, .multiplier = last_step};
  CHECK(steep(0) == 1);
  CHECK(steep(1) == 1);
  CHECK(steep(last_step) == doctest::Approx(0));
}

TEST_CASE("one-cycle rises to the peak, falls to the end, and holds") {
  const ap::OneCycle rate{.peak = 2, .total = 100, .rise = 0.3};
  CHECK(rate(0) == near(2.0 / 25));
  CHECK(rate(29) == 2);
  for (std::uint64_t i = 0; i < 29; ++i) CHECK(rate(i) < rate(i + 1));
  for (std::uint64_t i = 29; i < 99; ++i) CHECK(rate(i) > rate(i + 1));
  for (const std::uint64_t step : {std::uint64_t{99}, std::uint64_t{100}, last_step})
    CHECK(rate(step) == 2.0 / 25 / 1e4);
  CHECK(ap::OneCycle{.peak = 2, .total = 0}(0) == 2.0 / 25 / 1e4);
}

TEST_CASE("one-cycle with three phases descends symmetrically to its rise") {
  const ap::OneCycle rate{.peak = 2, .total = 100, .rise = 0.4, .phases = ap::OneCyclePhases::three};
  CHECK(rate(39) == 2);
  for (std::uint64_t i = 0; i <= 39; ++i) CHECK(rate(39 - i) == near(rate(39 + i), 1e-13));
  CHECK(rate(78) == near(2.0 / 25));
  CHECK(rate(99) == 2.0 / 25 / 1e4);
  CHECK(ap::OneCycle{.peak = 2, .total = 100, .rise = 0.5, .phases = ap::OneCyclePhases::three}(49) == 2);
}

TEST_CASE("one-cycle's momentum is low where its learning rate is high") {
  for (const ap::OneCyclePhases phases : {ap::OneCyclePhases::two, ap::OneCyclePhases::three})
    for (const ap::OneCycleAnneal anneal : {ap::OneCycleAnneal::cosine, ap::OneCycleAnneal::linear}) {
      const ap::OneCycle rate{.peak = 1, .total = 50, .rise = 0.3, .anneal = anneal, .phases = phases};
      const ap::OneCycleMomentum momentum{.total = 50, .rise = 0.3, .anneal = anneal, .phases = phases};
      CHECK(momentum(0) == 0.95);
      CHECK(momentum(14) == 0.85);
      CHECK(rate(14) == 1);
      CHECK(momentum(49) == 0.95);
      CHECK(momentum(last_step) == 0.95);
      const std::uint64_t back = phases == ap::OneCyclePhases::two ? 49 : 28;
      for (std::uint64_t i = 0; i < back; ++i) CHECK((rate(i) < rate(i + 1)) == (momentum(i) > momentum(i + 1)));
      for (std::uint64_t i = back; i < 50; ++i) CHECK(momentum(i) == near(0.95, 1e-15));
    }
}
