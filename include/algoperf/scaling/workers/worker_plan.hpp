// plan_workers: predicts the time to a target of any number of data-parallel workers from the steps and the step time
// of one worker, the gradient noise scale and a described cluster.
#pragma once

#include <cmath>
#include <cstddef>

#include "../../core/error.hpp"
#include "../cost/quantities.hpp"
#include "cluster.hpp"
#include "combined_gradient.hpp"

namespace algoperf {

// What is known of training with one worker, and of the machines.
struct WorkerPlanOptions {
  double examples_per_worker = 32;
  double noise_scale = 0;       // examples; required
  double steps = 0;             // to the target, of one worker at its best learning rate; required
  Seconds step{};               // the time of such a step on a processor of its own
  Bytes vector{};               // of the gradient
  double most_rate = HUGE_VAL;  // the largest stable learning rate, as a multiple of one worker's best
  Cluster cluster = {};

  // Throws Error if a member is out of range.
  void check() const {
    require(examples_per_worker > 0 && noise_scale > 0 && steps > 0,
            "WorkerPlanOptions: examples_per_worker, noise_scale and steps are ", examples_per_worker, ", ",
            noise_scale, " and ", steps, ", expected more than 0");
    require(step.value >= 0 && vector.value >= 0, "WorkerPlanOptions: a step takes ", step.value,
            " s and the gradient has ", vector.value, " bytes, expected at least 0");
    require(most_rate >= 1, "WorkerPlanOptions: most_rate is ", most_rate, ", expected at least 1");
    cluster.check();
  }
};

// The learning rate with many workers.
enum class RateChoice {
  best,     // the best rate for all workers, at most most_rate
  untuned,  // one worker's best rate
};

struct WorkerPlan {
  std::size_t workers = 1;
  double rate = 1;                     // as a multiple of one worker's best learning rate
  double steps = HUGE_VAL;             // to the target; infinite if the loss would rise
  Seconds compute{}, communication{};  // of a step

  Seconds step() const { return compute + communication; }
  Seconds time() const { return steps * step(); }
};

// Returns the plan for SGD with `workers` workers of examples_per_worker examples each. With p the progress of a step
// (combined_gradient.hpp), the steps are steps p(one worker) / p(workers). A step computes for max(1, workers /
// processors) times one worker's time, and communicates as Cluster::mean() or adasum() says. Steps differ from this if
// the noise scale changes much during training, for rules other than SGD with a constant rate, and if something else
// than noise limits one worker's rate: then the best rate with many workers is too large, unless most_rate says so.
// Throws Error if an option is out of range.
inline WorkerPlan plan_workers(const WorkerPlanOptions& options, Combination combination, RateChoice rate,
                               std::size_t workers) {
  options.check();
  const double noise = options.noise_scale, ranks = static_cast<double>(workers);
  const CombinedGradient alone = combined_gradient(Combination::mean, noise, options.examples_per_worker, 1);
  const CombinedGradient all = combined_gradient(combination, noise, options.examples_per_worker, workers);
  const double rate_alone = alone.best_rate(noise);
  const double chosen =
      rate == RateChoice::best ? std::fmin(all.best_rate(noise), options.most_rate * rate_alone) : rate_alone;
  WorkerPlan plan{.workers = workers, .rate = chosen / rate_alone};
  const double progress = all.progress(noise, chosen);
  if (progress > 0) plan.steps = options.steps * alone.progress(noise, rate_alone) / progress;
  plan.compute = options.cluster.turns(ranks) * options.step;
  plan.communication = combination == Combination::adasum ? options.cluster.adasum(options.vector, ranks)
                                                          : options.cluster.mean(options.vector, ranks);
  return plan;
}

// Returns the fastest plan among 1, 2, 4, ... workers, up to `most`. Of ties, the one with the fewest workers. Throws
// Error as plan_workers() does.
inline WorkerPlan fastest_plan(const WorkerPlanOptions& options, Combination combination, RateChoice rate,
                               std::size_t most) {
  WorkerPlan best = plan_workers(options, combination, rate, 1);
  for (std::size_t workers = 2; workers <= most && workers != 0; workers *= 2) {
    const WorkerPlan plan = plan_workers(options, combination, rate, workers);
    if (plan.time() < best.time()) best = plan;
  }
  return best;
}

}  // namespace algoperf
