#include "algoperf/scoring/score_bounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "../support/near.hpp"
#include "algoperf/core/random.hpp"
#include "suites.hpp"

namespace ap = algoperf;

TEST_CASE("bounds of a complete table are the score") {
  ap::TimeTable times(suite_of({"a", "b"}), {"s", "t"});
  times.entries = {1, INFINITY, 2, 5};
  const double score = ap::PerformanceProfile(times).score(1);
  CHECK(ap::score_bounds(times, 1).low == score);
  CHECK(ap::score_bounds(times, 1).high == score);
}

TEST_CASE("bounds without variants are those computed by hand") {
  ap::TimeTable times(suite_of({"a", "b", "c"}), {"s", "t"});
  times.entries = {1, NAN, 2,  //
                   2, 3,   NAN};
  CHECK(ap::score_bounds(times, 0).low == near(1 / 3.0, 1e-12));   // misses b; t becomes much faster on c
  CHECK(ap::score_bounds(times, 0).high == near(1, 1e-12));        // the first on b; t misses c
  CHECK(ap::score_bounds(times, 1).low == near(2 / 9.0, 1e-12));   // s becomes much faster on b; misses c
  CHECK(ap::score_bounds(times, 1).high == near(8 / 9.0, 1e-12));  // s misses b; the first on c
}

TEST_CASE("no completion of a table with variants has a score outside of the bounds") {
  const ap::Suite suite = suite_of({"a", "a_wide", "b", "b_deep", "b_wide", "c"});
  ap::RandomStream random(ap::RandomKey{11});
  const auto time = [&] { return random.below(5) == 0 ? INFINITY : std::exp(2 * random.uniform_double()); };
  int beyond = 0, apart = 0;
  for (int table = 0; table < 200; ++table) {
    ap::TimeTable known(suite, {"s", "t", "u"});
    for (double& entry : known.entries) entry = random.below(4) == 0 ? NAN : time();
    const ap::Interval bounds = ap::score_bounds(known, 0);
    apart += bounds.high > bounds.low;
    for (int completion = 0; completion < 50; ++completion) {
      ap::TimeTable completed = known;
      const double range = completion % 2 == 0 ? 1 : 100;
      for (double& entry : completed.entries)
        if (std::isnan(entry)) entry = range == 1 ? time() : std::pow(range, 2 * random.uniform_double() - 1);
      const double score = ap::PerformanceProfile(ap::counted_times(completed)).score(0);
      beyond += score < bounds.low - 1e-12 || score > bounds.high + 1e-12;
    }
  }
  CHECK(beyond == 0);
  CHECK(apart > 100);
}
