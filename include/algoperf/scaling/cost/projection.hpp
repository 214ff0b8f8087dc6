// Projects a target error to the resources it needs (Hestness et al. 2019): the data that the learning curve
// requires, the parameters suited to that much data, and the FLOPs, time and memory of training them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/percentile.hpp"
#include "../fit/bootstrap.hpp"
#include "../fit/fit.hpp"
#include "accelerator.hpp"
#include "quantities.hpp"
#include "requirements.hpp"

namespace algoperf {

struct ProjectionOptions {
  double accelerators = 1;  // that process one step's batch together and reduce gradients in a ring
  Samples batch{0};         // per accelerator; 0: Accelerator::balanced_batch
  double epochs = 1;
  double sequence = 1;  // samples of the learning curve (words) per sample of Requirements (sentence)
  Bytes number{4};      // of one element of a gradient, for its reduction

  void check() const {
    require(accelerators >= 1 && accelerators < HUGE_VAL, "ProjectionOptions: accelerators is ", accelerators,
            ", expected at least 1");
    require(batch.value >= 0, "ProjectionOptions: batch is ", batch.value, ", expected at least 0");
    require(epochs > 0 && sequence > 0, "ProjectionOptions: epochs and sequence are ", epochs, " and ", sequence,
            ", expected more than 0");
    require(number.value > 0, "ProjectionOptions: number is ", number.value, " bytes, expected more than 0");
  }
};

struct Projection {
  Samples data;
  Parameters parameters;
  Samples batch;      // per accelerator
  Flops step_flops;   // per accelerator
  Bytes step_bytes;   // per accelerator
  Seconds step_time;  // including the reduction of gradients
  Flops flops;        // of all epochs; at least one step, even if its batches exceed the data
  Seconds time;       // of all epochs
  Bytes memory;       // per copy of the model

  // Returns whether the model fits one accelerator. If not, split it (model_parallel.hpp).
  bool fits(const Accelerator& accelerator) const { return memory <= accelerator.memory; }

  // Returns the FLOPs done as a fraction of what all accelerators could do at their peak in that time.
  double utilisation(const Accelerator& accelerator, double accelerators) const {
    return flops / (accelerators * time * accelerator.peak);
  }
};

namespace detail {

inline constexpr struct { double smallest = -700, largest = 700; } log_sizes;  // within the range of a double

template <class Law>
bool reaches(const Fit<Law>& fit, double y) {
  return fit(std::exp(log_sizes.smallest)) > y && fit(std::exp(log_sizes.largest)) <= y;
}

}  // namespace detail

// Returns the x at which a decreasing law of one size falls to y. Throws Error if it never does.
template <ScalingLaw Law>
requires(Law::variables == 1) double size_for(const Fit<Law>& fit, double y) {
  require(y > 0 && y < HUGE_VAL, "size_for: y is ", y, ", expected a positive number");
  const auto [smallest, largest] = detail::log_sizes;
  require(detail::reaches(fit, y), "size_for: ", Law::formula, " does not fall to ", y, ": it goes from ",
          fit(std::exp(smallest)), " to ", fit(std::exp(largest)));
  double low = smallest, high = largest;
  for (double middle = 0; middle != low && middle != high;) {
    (fit(std::exp(middle)) > y ? low : high) = middle;
    middle = 0.5 * (low + high);
  }
  return std::exp(high);
}

// Projects a target error. `curve` is the error as a function of samples; `model` is the best number of parameters
// for a number of samples. The projection takes the laws at face value; use extrapolate() to judge how far they can
// be trusted. Throws Error if the curve never falls to `target`, or if the batch is not given and no batch is
// compute-bound.
template <ScalingLaw Curve, ScalingLaw Model>
Projection project(double target, const Fit<Curve>& curve, const Fit<Model>& model, const Requirements& requirements,
                   const Accelerator& accelerator, const ProjectionOptions& options = {}) {
  options.check();
  accelerator.check();
  requirements.check();
  Projection p;
  p.data = Samples(size_for(curve, target));
  p.parameters = Parameters(model(p.data.value));
  p.batch = options.batch.value > 0 ? options.batch : accelerator.balanced_batch(requirements, p.parameters);
  require(p.batch.value < HUGE_VAL, "project: at ", p.parameters.value,
          " parameters no batch keeps the accelerator busy; set ProjectionOptions::batch");
  p.step_flops = requirements.flops(p.parameters, p.batch);
  p.step_bytes = requirements.bytes(p.parameters, p.batch);
  p.step_time = accelerator.time(p.step_flops, p.step_bytes) +
                accelerator.all_reduce(p.parameters.value * options.number, options.accelerators);
  const double steps = std::fmax(1, options.epochs * (p.data / options.sequence) / (options.accelerators * p.batch));
  p.flops = steps * options.accelerators * p.step_flops;
  p.time = steps * p.step_time;
  p.memory = requirements.footprint(p.parameters);
  return p;
}

// The ends of intervals, separate for each quantity.
struct ProjectionInterval {
  Projection low, high;
};

// Projects a target error with the i-th replicates of both bootstraps, for each i, and returns the interval of each
// quantity. Replicates that never fall to `target` count as infinite. Otherwise throws Error as the overload for fits
// does.
template <ScalingLaw Curve, ScalingLaw Model>
ProjectionInterval project(double target, const Bootstrap<Curve>& curve, const Bootstrap<Model>& model,
                           const Requirements& requirements, const Accelerator& accelerator,
                           const ProjectionOptions& options = {}, double level = 0.9) {
  require(!curve.thetas.empty() && !model.thetas.empty(), "project: a bootstrap has no replicates");
  const std::size_t n = std::min(curve.thetas.size(), model.thetas.size());
  const double never = HUGE_VAL;
  const Projection unreached{.data = Samples(never),
                             .parameters = Parameters(never),
                             .batch = options.batch.value > 0 ? options.batch : Samples(never),
                             .step_flops = Flops(never),
                             .step_bytes = Bytes(never),
                             .step_time = Seconds(never),
                             .flops = Flops(never),
                             .time = Seconds(never),
                             .memory = Bytes(never)};
  std::vector<Projection> all;
  for (std::size_t i = 0; i < n; ++i) {
    const Fit<Curve> of_curve{{.theta = curve.thetas[i]}};
    const Fit<Model> of_model{{.theta = model.thetas[i]}};
    all.push_back(detail::reaches(of_curve, target)
                      ? project(target, of_curve, of_model, requirements, accelerator, options)
                      : unreached);
  }
  ProjectionInterval interval;
  const auto set = [&](auto member) {
    using Q = std::remove_reference_t<decltype(interval.low.*member)>;
    std::vector<double> values;
    for (const Projection& each : all) values.push_back((each.*member).value);
    const Interval ends = percentile_interval(values, level);
    interval.low.*member = Q(ends.low), interval.high.*member = Q(ends.high);
  };
  set(&Projection::data), set(&Projection::parameters), set(&Projection::batch), set(&Projection::step_flops);
  set(&Projection::step_bytes), set(&Projection::step_time), set(&Projection::flops), set(&Projection::time);
  set(&Projection::memory);
  return interval;
}

}  // namespace algoperf
