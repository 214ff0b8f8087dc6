#include "algoperf/scoring/score_bootstrap.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"
#include "suites.hpp"

namespace ap = algoperf;

TEST_CASE("with one study each, the interval is the score and the winner always wins") {
  ap::StudyTimes studies(suite_of({"a", "b"}), {"s", "t"});
  studies.entries = {{1}, {3}, {2}, {2}};
  const ap::ScoreBootstrap found = ap::bootstrap_scores(studies, {.samples = 20});
  const ap::PerformanceProfile profile(ap::median_times(studies));
  for (std::size_t s = 0; s < 2; ++s) {
    CHECK(found.intervals[s].low == near(profile.score(s), 1e-12));
    CHECK(found.intervals[s].high == near(profile.score(s), 1e-12));
  }
  CHECK(found.winner_share[0] == near(1, 1e-12));
  CHECK(found.winner_share[1] == 0);
}

TEST_CASE("submissions that tie share the samples") {
  ap::StudyTimes studies(suite_of({"a"}), {"s", "t", "u"});
  studies.entries = {{1}, {1}, {2}};
  const ap::ScoreBootstrap found = ap::bootstrap_scores(studies, {.samples = 10});
  CHECK(found.winner_share[0] == near(0.5, 1e-12));
  CHECK(found.winner_share[1] == near(0.5, 1e-12));
}

TEST_CASE("the share of winners is the probability over the draws of studies") {
  // Three studies of s: 1, 1, 10. Their median is 10 if at least two of three draws are: 7 of 27. t always takes 2.
  ap::StudyTimes studies(suite_of({"a"}), {"s", "t"});
  studies.entries = {{1, 1, 10}, {2, 2, 2}};
  const ap::ScoreBootstrap found = ap::bootstrap_scores(studies, {.samples = 20000, .level = 0.6});
  CHECK(found.winner_share[1] == near(7.0 / 27, 0.05));
  CHECK(found.intervals[0].high == 1);
  CHECK(found.intervals[0].low == 0);
  CHECK(found.intervals[1].low == near(2 / 3.0, 1e-12));
}

TEST_CASE("a bootstrap is reproducible, and its options matter") {
  ap::StudyTimes studies(suite_of({"a", "a_wide"}), {"s", "t"});
  studies.entries = {{1, 2, 3, 2, 4}, {1, 2, 1, 1, 1}, {2, 3, 1, 5, 7}, {2, 2, 1, 6, 2}};
  const auto low = [&](const ap::ScoreBootstrapOptions& options) {
    return ap::bootstrap_scores(studies, options).intervals[0].low;
  };
  CHECK(low({.seed = 4}) == low({.seed = 4}));
  CHECK(ap::bootstrap_scores(studies, {.seed = 4}).winner_share[0] !=
        ap::bootstrap_scores(studies, {.seed = 5}).winner_share[0]);
  CHECK(low({.integral = ap::Integral::trapezoid}) != low({}));
  CHECK(low({.max_ratio = 3}) != low({}));
  CHECK(sentence([&] { low({.samples = 0}); }) == "bootstrap_scores: samples is 0, expected at least 1");
  CHECK(sentence([&] { low({.level = 1}); }) == "percentile_interval: level is 1, expected (0, 1)");
}
