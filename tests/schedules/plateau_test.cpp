// Plateau: the reference rows of torch and optax, its saved state, and its evaluations within a join.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "../golden/schedules.hpp"
#include "../memory_archive.hpp"
#include "../support/near.hpp"
#include "algoperf/core/error.hpp"
#include "algoperf/schedules/all.hpp"
#include "algoperf/state/archive.hpp"

namespace ap = algoperf;

namespace {

struct Found {
  std::uint64_t step = 0;
  double loss = 0, metric = 0;
  bool lower_is_better = true;
};

void check_table(const char* name, ap::Plateau plateau, bool lower_is_better = true) {
  bool found = false;
  for (const golden::PlateauTable& table : golden::plateaus) {
    if (std::string(table.name) != name) continue;
    found = true;
    CAPTURE(table.reference);
    for (int i = 0; i < 40; ++i) {
      CAPTURE(i);
      plateau.observe(table.metrics[i], lower_is_better);
      CHECK(plateau(0) == near(table.rates[i], 1e-15));
    }
  }
  CAPTURE(std::string(name));
  CHECK(found);
}

}  // namespace

static_assert(ap::Schedule<ap::Plateau>);
static_assert(ap::detail::Reacts<ap::Plateau, Found>);
static_assert(!ap::detail::Reacts<ap::Cosine, Found>);

TEST_CASE("a plateau drops where torch and optax do") {
  constexpr ap::PlateauThreshold absolute = ap::PlateauThreshold::absolute;
  check_table("torch_relative", {.peak = 1, .factor = 0.5, .patience = 2});
  check_table("torch_absolute", {.peak = 1, .factor = 0.5, .patience = 2, .threshold = 0.01, .mode = absolute});
  check_table("torch_cooldown", {.peak = 1, .floor = 2e-3, .patience = 1, .threshold = 1e-2, .cooldown = 3});
  check_table("torch_impatient", {.peak = 1, .factor = 0.9, .patience = 0, .threshold = 0});
  check_table("torch_max", {.peak = 1, .factor = 0.5, .patience = 1, .threshold = 1e-3, .cooldown = 1}, false);
  check_table("torch_max_absolute", {.peak = 1, .factor = 0.5, .patience = 1, .threshold = 0.02, .mode = absolute},
              false);
  // optax drops at the bad evaluation number `patience`, torch at the next one.
  check_table("optax_plateau", {.peak = 1, .factor = 0.5, .patience = 2, .cooldown = 2});
  CHECK(std::size(golden::plateaus) == 7);
}

TEST_CASE("a plateau monitors the loss or the metric") {
  ap::Plateau of_loss{.peak = 1, .patience = 0}, of_metric{.peak = 1, .patience = 0, .of = ap::PlateauOf::metric};
  const auto tell = [&](const Found& found) {
    of_loss.feedback(found);
    of_metric.feedback(found);
  };
  tell({.loss = 1, .metric = 0.5, .lower_is_better = false});
  tell({.loss = 2, .metric = 0.6, .lower_is_better = false});
  CHECK(of_loss(0) == near(0.1));
  CHECK(of_metric(0) == 1);
  tell({.loss = 0.5, .metric = 0.6, .lower_is_better = false});
  CHECK(of_loss(0) == near(0.1));
  CHECK(of_metric(0) == near(0.1));
}

TEST_CASE("a plateau at NaN, zero and negative values") {
  const double nan = std::nan(""), inf = HUGE_VAL;
  ap::Plateau plateau{.peak = 1, .factor = 0.5, .patience = 1};
  plateau.observe(nan);
  CHECK(plateau(0) == 1);
  plateau.observe(nan);
  CHECK(plateau(0) == 0.5);
  plateau.observe(1);
  plateau.observe(nan);
  plateau.observe(0.9);
  CHECK(plateau(0) == 0.5);
  plateau.observe(inf);
  plateau.observe(inf);
  CHECK(plateau(0) == 0.25);

  // Below 0 a relative threshold still requires an improvement.
  ap::Plateau below{.peak = 1, .factor = 0.5, .patience = 0, .threshold = 0.1};
  below.observe(-10);
  below.observe(-10.5);
  CHECK(below(0) == 0.5);
  below.observe(-11.1);
  CHECK(below(0) == 0.5);
  ap::Plateau first_infinite{.peak = 1, .patience = 5};
  first_infinite.observe(inf);
  first_infinite.observe(3);
  CHECK(first_infinite.state.best == 3);
}

TEST_CASE("a plateau never passes its floor, for any number of drops") {
  ap::Plateau plateau{.peak = 1, .floor = 1e-3, .patience = 0};
  for (int i = 0; i < 1000; ++i) plateau.observe(1);
  CHECK(plateau.state.drops == 999);
  CHECK(plateau(0) == 1e-3);
}

TEST_CASE("a plateau that is saved and loaded continues unchanged") {
  for (int stop = 0; stop < 40; stop += 3) {
    ap::Plateau whole{.peak = 1, .factor = 0.9, .patience = 1, .cooldown = 2}, resumed = whole, first = whole;
    const double* const metrics = golden::plateaus[0].metrics;
    for (int i = 0; i < 40; ++i) whole.observe(metrics[i]);
    for (int i = 0; i < stop; ++i) first.observe(metrics[i]);
    ap::testing::load(resumed, ap::testing::save(first));
    for (int i = stop; i < 40; ++i) resumed.observe(metrics[i]);
    CHECK(resumed(0) == whole(0));
    CHECK(resumed.state.best == whole.state.best);
    CHECK(resumed.state.bad == whole.state.bad);
    CHECK(resumed.state.cooling == whole.state.cooling);
  }
}

TEST_CASE("in a join, a plateau receives the evaluations after its own steps") {
  const ap::Plateau plateau{.peak = 1, .factor = 0.5, .patience = 0};
  auto joined = ap::join(ap::Warmup{.peak = 1, .steps = 10}, 10, plateau, 10, plateau);
  for (std::uint64_t t = 5; t <= 10; ++t) joined.feedback(Found{.step = t, .loss = 1});
  CHECK(joined(10) == 1);
  joined.feedback(Found{.step = 11, .loss = 1});
  joined.feedback(Found{.step = 20, .loss = 1});  // after step 19, counted from 0: the last step of the second schedule
  CHECK(joined(10) == 0.5);
  CHECK(joined(20) == 1);
  joined.feedback(Found{.step = 21, .loss = 1});
  joined.feedback(Found{.step = 22, .loss = 1});
  CHECK(joined(10) == 0.5);
  CHECK(joined(20) == 0.5);

  auto again = ap::join(ap::Warmup{.peak = 1, .steps = 10}, 10, plateau, 10, plateau);
  const ap::testing::Saved saved = ap::testing::save(joined);
  CHECK(saved.count("second/first/drops") == 1);
  CHECK(saved.count("second/second/drops") == 1);
  ap::testing::load(again, saved);
  CHECK(again(10) == 0.5);
  CHECK(again(20) == 0.5);

  using Pure = decltype(ap::join(ap::Warmup{}, 10, ap::Constant{}));
  static_assert(!ap::detail::Reacts<Pure, Found>);
  static_assert(!ap::detail::Remembers<Pure, ap::testing::MemoryWriter>);
}
