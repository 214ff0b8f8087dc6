// The rows of tests/golden/schedules.hpp that these schedules claim.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "../golden/schedules.hpp"
#include "algoperf/core/error.hpp"
#include "algoperf/schedules/all.hpp"

namespace ap = algoperf;

namespace {

// `tolerance` is absolute, on values of at most 1.
template <class S>
void check_table(const char* name, const S& schedule, double tolerance = 1e-15) {
  bool found = false;
  for (const golden::Table& table : golden::schedules) {
    if (std::strcmp(table.name, name) != 0) continue;
    found = true;
    for (int i = 0; i < table.count; ++i) {
      CAPTURE(table.reference);
      CAPTURE(table.steps[i]);
      CHECK(std::abs(schedule(static_cast<std::uint64_t>(table.steps[i])) - table.values[i]) <= tolerance);
    }
  }
  CHECK(found);
}

}  // namespace

TEST_CASE("optax's schedules") {
  check_table("linear", ap::Linear{.from = 0.1, .to = 0.01, .steps = 10});
  check_table("linear_begin", ap::Linear{.from = 0.1, .to = 0.01, .steps = 10, .begin = 3});
  check_table("cosine", ap::Cosine{.peak = 1, .floor = 0.1 * 1, .steps = 10});
  check_table("warmup_cosine", ap::WarmupCosine{.peak = 1, .warmup = 4, .total = 12, .floor = 0.1});
  check_table("join", ap::join(ap::Linear{.from = 0, .to = 1, .steps = 4}, 4, ap::Cosine{.peak = 1, .steps = 8}));
}

TEST_CASE("torch's schedules, whose recurrences are off by a few ulp") {
  const ap::Warmup warmup{.peak = 1, .steps = 4, .from = 0.1};
  check_table("torch_linear", warmup, 5e-16);
  check_table("torch_cosine", ap::Cosine{.peak = 1, .steps = 8}, 5e-16);
  check_table("torch_sequential", ap::join(warmup, 4, ap::Cosine{.peak = 1, .steps = 8}), 5e-16);
  check_table("torch_sequential", ap::WarmupCosine{.peak = 1, .warmup = 4, .total = 12, .from = 0.1}, 5e-16);
}
