#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/scaling/workers/worker_plan.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"

using namespace algoperf;

namespace {

// |g|^2 and g.G of adasum_tree, for workers with gradients G + noise in many dimensions; |G| = 1.
struct Found {
  double square = 0, along = 0;
};
Found simulate(double noise_scale, double examples, std::size_t workers) {
  const std::size_t n = 200000;
  RandomStream random(RandomKey{workers});
  std::vector<std::vector<double>> gradients(workers, std::vector<double>(n));
  const double deviation = std::sqrt(noise_scale / examples / static_cast<double>(n));
  std::vector<double*> pointers;
  for (auto& gradient : gradients) {
    for (double& x : gradient) x = deviation * random.normal();
    gradient[0] += 1;
    pointers.push_back(gradient.data());
  }
  Layout layout(1);
  layout.add({"t", Kind::weight, Shape(n)});
  adasum_tree(Host<double>{}, layout, pointers, 0, workers);
  Found found{.along = gradients[0][0]};
  for (const double x : gradients[0]) found.square += x * x;
  return found;
}

WorkerPlanOptions options() {
  return {
      .examples_per_worker = 32,
      .noise_scale = 320,
      .steps = 1100,
      .step = Seconds(0.01),
      .vector = Bytes(4e6),
      .cluster = {
          .processors = 8, .latency = Seconds(1e-5), .bandwidth = BytesPerSecond(1e9), .pairing = BytesPerSecond(2e9)}};
}

}  // namespace

TEST_CASE("the expected Adasum of gradients with noise is what adasum_tree computes") {
  for (const double noise : {1.0, 100.0, 3000.0})
    for (const unsigned workers : {1u, 2u, 3u, 5u, 8u, 16u}) {
      CAPTURE(noise);
      CAPTURE(workers);
      const CombinedGradient expected = combined_gradient(Combination::adasum, noise, 32, workers);
      const Found found = simulate(noise, 32, workers);
      CHECK(found.square == near(expected.square(noise), 0.02));
      CHECK(found.along == near(expected.gain, 0.03));
    }
}

TEST_CASE("Adasum is the mean without noise and the sum if noise dominates") {
  const CombinedGradient equal = combined_gradient(Combination::adasum, 0, 32, 8);
  CHECK(equal.gain == near(1, 1e-14));
  CHECK(equal.variance == near(1.0 / (8 * 32), 1e-14));
  const CombinedGradient orthogonal = combined_gradient(Combination::adasum, 1e12, 32, 8);
  CHECK(orthogonal.gain == near(8, 1e-6));
  CHECK(orthogonal.variance == near(8.0 / 32, 1e-6));
}

TEST_CASE("steps of the mean at the best rate are Smin (1 + N / B)") {
  const WorkerPlanOptions of = options();
  for (const unsigned workers : {1u, 2u, 7u, 64u}) {
    const WorkerPlan plan = plan_workers(of, Combination::mean, RateChoice::best, workers);
    const double batch = 32 * static_cast<double>(workers);
    CHECK(plan.steps == near(100 * (1 + 320 / batch), 1e-12));  // Smin = 1100 / (1 + 320 / 32)
    CHECK(plan.rate == near(11 / (1 + 320 / batch), 1e-12));
    // The sum differs from the mean only in its best rate.
    const WorkerPlan sum = plan_workers(of, Combination::sum, RateChoice::best, workers);
    CHECK(sum.steps == near(plan.steps, 1e-12));
    CHECK(sum.rate == near(plan.rate / static_cast<double>(workers), 1e-12));
  }
}

TEST_CASE("a plan's rate is at most the largest stable one") {
  WorkerPlanOptions of = options();
  of.most_rate = 2;
  const WorkerPlan limited = plan_workers(of, Combination::mean, RateChoice::best, 64);
  CHECK(limited.rate == near(2, 1e-14));
  CHECK(limited.steps > plan_workers(options(), Combination::mean, RateChoice::best, 64).steps);
  CHECK(limited.steps < plan_workers(of, Combination::mean, RateChoice::untuned, 64).steps);
  of.most_rate = 100;
  CHECK(plan_workers(of, Combination::mean, RateChoice::best, 64).rate ==
        plan_workers(options(), Combination::mean, RateChoice::best, 64).rate);
}

TEST_CASE("at one worker's rate, the mean gains at most a factor of 2, and the sum makes the loss rise") {
  const WorkerPlanOptions of = options();
  CHECK(plan_workers(of, Combination::mean, RateChoice::untuned, 1000).steps > 0.5 * of.steps);
  CHECK(plan_workers(of, Combination::sum, RateChoice::untuned, 64).steps == HUGE_VAL);
}

TEST_CASE(
    "Adasum at one worker's rate: near the best rate up to a batch of the noise scale, then too large, never rising") {
  for (const double ratio : {0.1, 1.0, 10.0, 100.0, 1000.0})  // of the noise scale to one worker's examples
    for (std::size_t workers = 1; workers <= 4096; workers *= 2) {
      CAPTURE(ratio);
      CAPTURE(workers);
      WorkerPlanOptions of = options();
      of.noise_scale = 32 * ratio;
      const double steps = plan_workers(of, Combination::adasum, RateChoice::untuned, workers).steps;
      const double best = plan_workers(of, Combination::mean, RateChoice::best, workers).steps;
      CHECK(steps < HUGE_VAL);
      if (static_cast<double>(workers) <= ratio) CHECK(steps < 1.2 * best);
    }
  const WorkerPlanOptions of = options();
  CHECK(plan_workers(of, Combination::adasum, RateChoice::untuned, 64).steps >
        1.5 * plan_workers(of, Combination::mean, RateChoice::best, 64).steps);
}

TEST_CASE("time: ranks take turns on processors, and exchanges take latencies and bytes") {
  const WorkerPlanOptions of = options();
  const WorkerPlan alone = plan_workers(of, Combination::mean, RateChoice::best, 1);
  CHECK(alone.communication.value == 0);
  CHECK(alone.time().value == near(11, 1e-12));
  const WorkerPlan four = plan_workers(of, Combination::mean, RateChoice::best, 4);
  CHECK(four.compute.value == 0.01);
  CHECK(four.communication.value == near(4 * 3e-5 + 2 * 0.003, 1e-12));  // 3 MB each in two exchanges
  const WorkerPlan sixteen = plan_workers(of, Combination::adasum, RateChoice::untuned, 16);
  CHECK(sixteen.compute.value == near(0.02, 1e-12));
  CHECK(sixteen.communication.value == near(2 * (8 * 15e-5 + 2 * 0.00375 + 0.001875), 1e-12));
  CHECK(four.time().value == near(four.steps * (four.compute + four.communication).value, 1e-12));
}

TEST_CASE("the fastest plan has no more workers than it profits from") {
  WorkerPlanOptions of = options();
  of.vector = {};
  of.cluster = {.processors = 1};
  CHECK(fastest_plan(of, Combination::mean, RateChoice::best, 64).workers == 1);
  of.cluster = {.processors = 64};
  CHECK(fastest_plan(of, Combination::mean, RateChoice::best, 16).workers == 16);
  CHECK(fastest_plan(of, Combination::mean, RateChoice::best, 1024).workers == 64);
  of.cluster.latency = Seconds(1e-3);
  const WorkerPlan best = fastest_plan(of, Combination::mean, RateChoice::best, 1024);
  CHECK(best.workers == 4);
}

TEST_CASE("invalid plans are rejected") {
  WorkerPlanOptions of = options();
  of.noise_scale = 0;
  CHECK(sentence([&] { plan_workers(of, Combination::mean, RateChoice::best, 2); }) ==
        "WorkerPlanOptions: examples_per_worker, noise_scale and steps are 32, 0 and 1100, expected more than 0");
  of = options();
  of.most_rate = 0.5;
  CHECK(sentence([&] { plan_workers(of, Combination::mean, RateChoice::best, 2); }) ==
        "WorkerPlanOptions: most_rate is 0.5, expected at least 1");
  of = options();
  of.step = Seconds(-1);
  CHECK(sentence([&] { plan_workers(of, Combination::mean, RateChoice::best, 2); }) ==
        "WorkerPlanOptions: a step takes -1 s and the gradient has 4e+06 bytes, expected at least 0");
  of = options();
  of.cluster.processors = 0.5;
  CHECK(sentence([&] { plan_workers(of, Combination::mean, RateChoice::best, 2); }) ==
        "Cluster: processors is 0.5, expected at least 1");
  of.cluster = {.bandwidth = BytesPerSecond(0)};
  CHECK(sentence([&] { of.check(); }) == "Cluster: bandwidth and pairing are 0 and inf bytes/s, expected more than 0");
  of.cluster = {.latency = Seconds(-1)};
  CHECK(sentence([&] { of.check(); }) == "Cluster: the latency is -1 s, expected at least 0");
  CHECK(sentence([] { combined_gradient(Combination::mean, 1, 1, 0); }) ==
        "combined_gradient: workers is 0, expected at least 1");
  CHECK(sentence([] { combined_gradient(Combination::mean, -1, 1, 1); }) ==
        "combined_gradient: the noise scale is -1 and 1 examples per worker, expected at least 0 and more than 0");
}
