#include "algoperf/scoring/held_out.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "suites.hpp"

namespace ap = algoperf;
using Entries = std::vector<double>;

namespace {

constexpr double missed = INFINITY;

// Times of submissions on workload a and its variant, row by row.
Entries counted_entries(const Entries& entries, double limit = 4) {
  ap::TimeTable times(suite_of({"a", "a_wide"}), std::vector<std::string>(entries.size() / 2, "s"));
  times.entries = entries;
  return ap::counted_times(times, limit).entries;
}

}  // namespace

TEST_CASE("a variant does not count if the base workload was missed") {
  CHECK(counted_entries({missed, 1, 2, 3}) == Entries{missed, missed, 2, 3});
  CHECK(counted_entries({NAN, 1, 2, 3}) == Entries{missed, missed, 2, 3});
}

TEST_CASE("the limit refers to the smallest variant time that counts, so the first rule comes first") {
  // The first submission's 1 would make the limit 4, and the third submission's 7 would not count.
  CHECK(counted_entries({missed, 1, 2, 3, 2, 7}) == Entries{missed, missed, 2, 3, 2, 7});
}

TEST_CASE("a time of exactly the limit counts, also on a base workload") {
  CHECK(counted_entries({1, 1, 4, 4}) == Entries{1, 1, 4, 4});
  CHECK(counted_entries({1, 1, 4.1, 1}) == Entries{1, 1, missed, 1});
  CHECK(counted_entries({1, 1, 4.1, 1}, 5) == Entries{1, 1, 4.1, 1});
}

TEST_CASE("a base workload does not count if the time on its variant does not") {
  CHECK(counted_entries({1, 10, 2, 2}) == Entries{missed, missed, 2, 2});
  CHECK(counted_entries({1, NAN, 2, 2}) == Entries{missed, missed, 2, 2});
  // The limits were applied before: 5 is beyond four times the 1 that no longer counts.
  CHECK(counted_entries({1, missed, 5, 2}) == Entries{missed, missed, missed, 2});
}

TEST_CASE("without variants, times stay as they are") {
  ap::TimeTable times(suite_of({"a", "b"}), {"s", "t"});
  times.entries = {1, 2, 100, NAN};
  CHECK(ap::counted_times(times).entries == Entries{1, 2, 100, missed});
}
