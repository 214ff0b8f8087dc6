#include "algoperf/scoring/performance_profile.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"
#include "suites.hpp"

namespace ap = algoperf;

namespace {

ap::TimeTable profile_times() {
  ap::TimeTable times(suite_of({"a", "b", "c", "c_wide", "d"}), {"s", "t", "u"});
  times.entries = {10, 4, INFINITY, 1, NAN,  //
                   20, 2, 50,       2, 9,    //
                   40, 8, 50,       3, INFINITY};
  return times;
}

}  // namespace

TEST_CASE("a profile is the share of the base workloads within a ratio of the smallest time") {
  const ap::PerformanceProfile profile(profile_times());
  CHECK(profile.ratios(0) == std::vector<double>{1, 2, INFINITY, INFINITY});
  CHECK(profile.ratios(1) == std::vector<double>{2, 1, 1, 1});
  CHECK(profile.ratios(2) == std::vector<double>{4, 4, 1, INFINITY});
  CHECK(profile.at(0, 1) == 0.25);
  CHECK(profile.at(0, 1.99) == 0.25);
  CHECK(profile.at(0, 2) == 0.5);
  CHECK(profile.at(2, 3.99) == 0.25);
  CHECK(profile.at(2, 4) == 0.75);
}

TEST_CASE("a score is the mean height of the profile") {
  const ap::PerformanceProfile profile(profile_times());
  CHECK(profile.score(0) == near((3 + 2) / 12.0, 1e-15));
  CHECK(profile.score(1) == near((2 + 3 + 3 + 3) / 12.0, 1e-15));
  CHECK(profile.score(2) == near(3 / 12.0, 1e-15));
  CHECK(ap::PerformanceProfile(profile_times(), 2).score(0) == near(0.25, 1e-15));
  // 100 points, 99 intervals of 1 / 33: at 2, the 34th point, the profile of s rises from 0.25 to 0.5.
  const double heights = 32 * 0.25 + 0.375 + 66 * 0.5;
  CHECK(profile.score(0, ap::Integral::trapezoid) == near(heights / 99, 1e-14));
  // At the last point, the profile of u rises from 0.25 to 0.75.
  CHECK(profile.score(2, ap::Integral::trapezoid) == near((98 * 0.25 + 0.5) / 99, 1e-14));
}

TEST_CASE("the trapezoidal rule tends to the exact integral") {
  ap::TimeTable times(suite_of({"a"}), {"s", "t"});
  for (const double ratio : {1.0, 1.3, 2.0, 3.7, 3.999, 5.0}) {
    times.entries = {1, ratio};
    const ap::PerformanceProfile profile(times);
    CHECK(std::fabs(profile.score(1) - profile.score(1, ap::Integral::trapezoid)) <= 0.5 / 99 + 1e-12);
  }
}

TEST_CASE("times that are not positive and limits that are not above 1 are refused") {
  ap::TimeTable times = profile_times();
  CHECK(sentence([&] { ap::PerformanceProfile(times, 1); }) ==
        "PerformanceProfile: max_ratio is 1, expected a finite number above 1");
  times.at(2, 1) = 0;
  CHECK(sentence([&] { ap::PerformanceProfile profile(times); }) ==
        "suite: the time of u on b is 0, expected more than 0");
  CHECK(sentence([&] { times.find("v"); }) == "suite: there is no submission 'v'");
}
