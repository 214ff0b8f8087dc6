// measure_noise_scale: the gradient noise scale during the training of a workload by a submission, which predicts the
// batch size beyond which larger batches save few steps (McCandlish et al. 2018, arXiv:1812.06162).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../backend/host.hpp"
#include "../../combine/group/in_process.hpp"
#include "../../combine/measured_mean.hpp"
#include "../../data/selectors/shuffled_epochs.hpp"
#include "../../loop/observers/until.hpp"
#include "../../loop/training_loop.hpp"
#include "../../schedules/noise_scale.hpp"
#include "../trial.hpp"

namespace algoperf {

struct NoiseScaleOptions {
  std::size_t batch = 256;  // examples per step
  std::size_t workers = 8;  // the smaller of the two batch sizes that are compared is batch / workers
  std::uint64_t steps = 0;  // at most; required, at least `samples`
  std::size_t samples = 20;
  std::uint64_t seed = 1;
};

// An average over the steps since the last sample.
struct NoiseSample {
  std::uint64_t step = 0;
  double gradient_square = 0, trace = 0;  // |G|^2 and tr(Sigma)
  // Examples; infinite or negative if noise hides the gradient.
  double scale() const { return trace / gradient_square; }
};

// Returns the mean noise scale over the samples of training with batches of `batch` examples, weighted by the progress
// that a step makes at the best rate, 1 / (1 + N / batch): the N for which the steps from the first sample to the last
// are Smin (1 + N / batch) (McCandlish et al. 2018). Samples whose estimate of a batch gradient's squared norm is not
// positive are left out. Throws Error if there are no samples, or if noise hides the gradient in them.
inline double mean_noise_scale(const std::vector<NoiseSample>& samples, double batch) {
  require(!samples.empty() && batch > 0, "mean_noise_scale: there are ", samples.size(), " samples of batches of ",
          batch, " examples, expected at least 1 and more than 0");
  double noise = 0, progress = 0;
  for (const NoiseSample& sample : samples) {
    const double square = sample.gradient_square + sample.trace / batch;  // of the batch's gradient
    if (!(square > 0)) continue;
    noise += sample.trace / square;
    progress += sample.gradient_square / square;
  }
  require(progress > 0 && noise > 0, "mean_noise_scale: noise hides the gradient in ", samples.size(),
          " samples; measure more steps or larger batches");
  return noise / progress;
}

namespace detail {

// Sums the measurements that a loop passes to its selector.
struct NoiseSums {
  double square = 0, trace = 0;
  std::uint64_t count = 0;
};
struct MeasuredEpochs : ShuffledEpochs {
  NoiseSums* sums = nullptr;

  static constexpr bool has_gradient_feedback = true;
  void gradient_feedback(State&, const GradientSquares& squares) const {
    if (!(squares.small > 0)) return;
    NoiseScale one{.decay = 0};
    one.observe(squares.small, squares.square_small, squares.big, squares.square_big);
    sums->square += one.gradient_square();
    sums->trace += one.trace();
    ++sums->count;
  }
};

}  // namespace detail

// Trains until `steps`, or until the workload's target is reached on its validation data, which is evaluated at every
// sample, and returns the samples. The estimates of each sample are averages over its steps; their quotient has less
// bias the more steps there are. Epochs draw without replacement, so the noise is that about the gradient of the
// training set: a scale near its size is overestimated. A submission's selector, batch size and observer are not used.
// Throws Error if an option is out of range or a gradient's norm is not finite, and Diverged if a loss is not finite.
template <class W, class S>
std::vector<NoiseSample> measure_noise_scale(const W& workload, const S& submission, const HyperPoint& point,
                                             const NoiseScaleOptions& options) {
  require(options.workers >= 2 && options.batch >= options.workers, "measure_noise_scale: the batch is ", options.batch,
          " examples over ", options.workers, " workers, expected at least 2 workers and an example for each");
  require(options.samples >= 1 && options.steps >= options.samples, "measure_noise_scale: there are ", options.steps,
          " steps for ", options.samples, " samples, expected at least one sample and a step for each");
  WorkloadFacts facts = facts_of(workload);
  facts.batch_size = options.batch;
  facts.step_hint = options.steps;
  detail::NoiseSums sums;
  TrainingLoop loop(workload.model(), workload.loss(), submission.rule(point, facts), submission.schedule(point, facts),
                    detail::MeasuredEpochs{{.batch = options.batch, .seed = options.seed}, &sums}, Seed{options.seed},
                    MeasuredMean{}, InProcess{.workers = options.workers}, Host<>{});
  const auto train = workload.train();
  const auto validation = workload.validation();
  std::vector<NoiseSample> samples;
  for (std::size_t i = 1; i <= options.samples; ++i) {
    sums = {};
    loop.run(train, UntilStep{options.steps * i / options.samples});
    if (sums.count == 0) continue;
    const double n = static_cast<double>(sums.count);
    samples.push_back({loop.steps(), sums.square / n, sums.trace / n});
    if (workload.target().reached_by(loop.evaluate(validation, workload.metric()).metric)) break;
  }
  return samples;
}

}  // namespace algoperf
