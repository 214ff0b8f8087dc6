#include "algoperf/tuning/baselines.hpp"

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/backend/products/linear_algebra.hpp>
#include <cmath>
#include <set>
#include <string>

#include "../support/near.hpp"
#include "algoperf/tuning/trial.hpp"
#include "small_study.hpp"

namespace ap = algoperf;

TEST_CASE_TEMPLATE("baselines train from points of their search spaces", S, ap::AdamWBaseline, ap::NAdamWBaseline,
                   ap::LambBaseline, ap::AdafactorBaseline, ap::SamBaseline, ap::ShampooBaseline,
                   ap::ScheduleFreeAdamWBaseline, ap::MuonBaseline, ap::HeavyBallBaseline, ap::NesterovBaseline) {
  static_assert(ap::Submission<S>);
  const S submission;
  CAPTURE(S::name);
  const ap::SearchSpace space = submission.search_space();
  std::set<std::string> names;
  for (const ap::Hyperparameter& each : space.hyperparameters()) names.insert(each.name);
  for (const char* const name : {"learning_rate", "one_minus_beta1", "weight_decay"}) CHECK(names.contains(name));
  double least = 10;
  for (const ap::HyperPoint& point : ap::search_points(space, 2)) {
    const ap::TrialResult found =
        ap::run_trial(SmallDigits{}, submission, point, {.steps = 20, .evaluate_every = 10, .stop_at_target = false});
    for (const ap::EvaluationReport& evaluation : found.evaluations) least = std::fmin(least, evaluation.loss);
  }
  CHECK(least < 2.29);  // log 10 = 2.303 without learning
}

TEST_CASE("schedules of the baselines last for the step hint") {
  const ap::WorkloadFacts facts{.name = "w", .step_hint = 1000};
  const ap::HyperPoint point{{"learning_rate", 0.5}, {"end_factor", 0.01}};
  const auto cosine = ap::AdamWBaseline{}.schedule(point, facts);
  CHECK(cosine(50) == 0.5);
  CHECK(cosine(525) == near(0.25, 1e-12));
  CHECK(cosine(1000) == 0);
  const auto linear = ap::HeavyBallBaseline{}.schedule(point, facts);
  CHECK(linear(25) == near(0.25, 1e-12));
  CHECK(linear(50) == 0.5);
  CHECK(linear(50 + 855) == near(0.005, 1e-12));
  CHECK(linear(1000) == near(0.005, 1e-12));
  const auto constant = ap::ScheduleFreeAdamWBaseline{}.schedule(point, facts);
  CHECK(constant(50) == 0.5);
  CHECK(constant(1000) == 0.5);
}
