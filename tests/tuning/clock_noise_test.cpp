#include "algoperf/tuning/clock_noise.hpp"

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>

#include "../support/near.hpp"
#include "../support/sentence.hpp"
#include "small_study.hpp"

namespace ap = algoperf;

TEST_CASE("the noise of a clock, and the runs that a difference needs") {
  const ap::ClockNoise noise = ap::clock_noise({9, 10, 11});
  CHECK(noise.runs == 3);
  CHECK(noise.mean == 10);
  CHECK(noise.variation == near(0.1, 1e-12));
  CHECK(noise.runs_for(0.01) == 769);  // 2 (1.96 * 0.1 / 0.01)^2 = 768.3
  CHECK(noise.runs_for(0.5) == 1);
  CHECK(sentence([] { ap::clock_noise({1}); }) == "clock_noise: there are 1 times, expected at least 2");
  CHECK(sentence([&] { (void)noise.runs_for(0); }) == "ClockNoise: difference is 0, expected more than 0");
}

TEST_CASE("a trial is repeated alone and beside neighbours") {
  const ap::StudyEntry entry = ap::study_entry(SmallDigits{}, SgdSubmission{});
  const ap::HyperPoint point{{"rate", 0.05}};
  const ap::TrialOptions options{.steps = 5};
  const std::vector<double> seconds = ap::repeat_trial(entry, point, options, 3, 2);
  REQUIRE(seconds.size() == 3);
  for (const double s : seconds) CHECK(s > 0);
  CHECK(ap::neighbour_slowdown(entry, point, options, 2, 1) > 0);
  const ap::StudyEntry failing = ap::study_entry(SmallDigits{}, CrashingSubmission{});
  CHECK(sentence([&] {
          ap::repeat_trial(failing, {{"rate", 0.01}, {"decay", -1.0}}, options, 1);
        }).starts_with("repeat_trial: crashing on small_digits: "));
  CHECK(sentence([&] { ap::repeat_trial(entry, {{"rate", 1e30}}, options, 1); }).find("loss") != std::string::npos);
}
