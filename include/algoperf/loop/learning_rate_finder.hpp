#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/error.hpp"
#include "../core/finite.hpp"
#include "../core/math.hpp"
#include "diverged.hpp"
#include "training_loop.hpp"

namespace algoperf {

struct LearningRateSweepOptions {
  double from = 1e-6, to = 10;  // the learning rate grows from the first to the second by a constant factor per step
  std::uint64_t steps = 200;    // of the whole sweep
  double smoothing = 0.9;       // of the moving average of the losses
  double stop_at = 4;           // ends the sweep if the smoothed loss exceeds its minimum by this factor

  void check() const {
    require(from > 0 && from < to && to <= __DBL_MAX__, "LearningRateSweepOptions: the rates are ", from, " to ", to,
            ", expected 0 < from < to < inf");
    require(steps >= 10, "LearningRateSweepOptions: steps is ", steps, ", expected at least 10");
    require(smoothing >= 0 && smoothing < 1, "LearningRateSweepOptions: smoothing is ", smoothing, ", expected [0, 1)");
    require(stop_at > 1, "LearningRateSweepOptions: stop_at is ", stop_at, ", expected more than 1");
  }
};

struct LearningRateSweep {
  struct Point {
    double learning_rate = 0, loss = 0, smoothed = 0;
  };
  std::vector<Point> points;  // one per step that was taken
  double steepest = 0;        // the rate at which the smoothed loss fell fastest, per factor of the rate
  double lowest = 0;          // the rate at which the smoothed loss was lowest: usually too high to train with
  bool diverged = false;      // whether the sweep ended before its last step
};

// Trains for a few hundred steps with a learning rate that grows from very small to too large, and reports the loss at
// each rate. A rate near `steepest`, or a third to a tenth of `lowest`, is a good first choice, and the rates around it
// are a range to tune in; it does not replace tuning.
//   const LearningRateSweep found = find_learning_rate(model, loss, adamw(), ShuffledEpochs{.batch = 128}, data);
//   TrainingLoop loop(model, loss, adamw(), Constant{found.steepest}, ...);
// Trains parameters of its own, so nothing of the caller's changes. `tail` holds the other arguments of a TrainingLoop:
// a backend, a combiner, a worker group, a Seed. The smoothed loss is an exponential moving average, corrected for its
// start as Adam's averages are. Throws Error if an option is out of range.
// Source: Smith 2017, arXiv:1506.01186, section 3.3 (the range test); smoothing and the end of the sweep as in fastai.
template <class Model, class Loss, class Rule, class Selector, class Data, class... Tail>
LearningRateSweep find_learning_rate(const Model& model, const Loss& loss, const Rule& rule, const Selector& selector,
                                     const Data& data, const LearningRateSweepOptions& options = {},
                                     const Tail&... tail) {
  options.check();
  const double growth = math::log(options.to / options.from) / static_cast<double>(options.steps - 1);
  const auto schedule = [options, growth](std::uint64_t t) {
    return options.from * math::exp(growth * static_cast<double>(t));
  };
  TrainingLoop loop(model, loss, rule, schedule, selector, tail...);
  LearningRateSweep sweep;
  double average = 0, weight = 0, least = __builtin_inf();
  try {
    for (std::uint64_t t = 0; t < options.steps && !sweep.diverged; ++t) {
      const StepReport step = loop.step(data);
      average = options.smoothing * average + (1 - options.smoothing) * *step.loss;
      weight = options.smoothing * weight + (1 - options.smoothing);
      const double smoothed = average / weight;
      if (!detail::finite_bits(smoothed)) break;
      sweep.points.push_back({step.now.learning_rate, *step.loss, smoothed});
      if (smoothed < least) least = smoothed, sweep.lowest = step.now.learning_rate;
      sweep.diverged = smoothed > options.stop_at * least;
    }
  } catch (const Diverged&) {
  }
  sweep.diverged = sweep.points.size() < options.steps;
  // The rate at the middle of the window, a tenth of the sweep wide, over which the smoothed loss fell most.
  const std::size_t half = options.steps / 20 > 0 ? static_cast<std::size_t>(options.steps / 20) : 1;
  double fastest = 0;
  sweep.steepest = sweep.points.empty() ? 0 : sweep.points.front().learning_rate;
  for (std::size_t i = 2 * half; i + half < sweep.points.size(); ++i) {
    const double change = sweep.points[i + half].smoothed - sweep.points[i - half].smoothed;
    if (change < fastest) fastest = change, sweep.steepest = sweep.points[i].learning_rate;
  }
  return sweep;
}

}  // namespace algoperf
