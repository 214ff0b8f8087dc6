// mean_step_cost: the cost of training steps on examples of different lengths, averaged over steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/error.hpp"
#include "../../data/concept.hpp"
#include "../../data/fields.hpp"
#include "step_cost.hpp"

namespace algoperf {

// Means over steps.
struct MeanStepCost {
  double examples = 0;  // of a batch
  Flops flops;
  Bytes bytes;                   // 4 per element
  std::uint64_t parameters = 0;  // as StepCost::parameters
};

// Returns the mean cost of `steps` steps on the batches that a selector draws from a data set. For a model with ragged
// axes, the FLOPs and bytes of each example are those of cost() with the example's own rows; what does not depend on
// the examples, such as the bytes of the parameters and the update, counts once per step. So attention is counted
// exactly, which cost() with mean lengths underestimates.
//   mean_step_cost(EncoderDecoder<>{.vocabulary = 2000}, pairs, ShuffledEpochs{.batch = 64}, 200)
// Source: Hestness et al. 2019, arXiv:1909.01736, section 4.1, who average over 100 to 500 steps.
// Throws Error if steps is 0 or the data set lacks a ragged axis of the model.
template <class Model, class Data, class Selector, class Loss = SoftmaxCrossEntropy>
MeanStepCost mean_step_cost(const Model& model, const Data& data, const Selector& selector, std::uint64_t steps,
                            StepOptions<Loss> options = {}) {
  require(steps > 0, "mean_step_cost: steps is 0, expected at least 1");
  Recorder<> net;
  Objective<Model, Loss>{model, options.loss}(net);
  std::vector<const char*> axes;
  for (const Axis& axis : net.graph().axes)
    if (axis.ragged) axes.push_back(axis.name);

  // What an example with these rows on the axes adds to a step.
  struct OfExample {
    std::vector<std::size_t> rows;
    double flops, moved;
  };
  std::vector<OfExample> known;  // sorted by rows
  double fixed_flops = 0, fixed_moved = 0;
  std::uint64_t parameters = 0;
  const auto cost_of = [&](const std::vector<std::size_t>& rows) -> const OfExample& {
    const auto place = std::lower_bound(known.begin(), known.end(), rows,
                                        [](const OfExample& a, const auto& b) { return a.rows < b; });
    if (place != known.end() && place->rows == rows) return *place;
    options.lengths = {};
    for (std::size_t k = 0; k < axes.size(); ++k) options.lengths.push_back({axes[k], rows[k]});
    const StepCost one = cost(model, 1, options), two = cost(model, 2, options);
    const auto flops = [](const StepCost& of) { return static_cast<double>(of.total_flops()); };
    const auto moved = [](const StepCost& of) { return static_cast<double>(of.total_moved()); };
    parameters = one.parameters;
    fixed_flops = 2 * flops(one) - flops(two);
    fixed_moved = 2 * moved(one) - moved(two);
    return *known.insert(place, {rows, flops(two) - flops(one), moved(two) - moved(one)});
  };

  typename Selector::State state = selector.state(data.size());
  Selection selection;
  double examples = 0, flops = 0, moved = 0;
  std::vector<std::size_t> rows(axes.size());
  for (std::uint64_t t = 1; t <= steps; ++t) {
    selector.select(state, Step{.t = t}, selection);
    examples += static_cast<double>(selection.indices.size());
    for (const std::uint32_t i : selection.indices) {
      for (std::size_t k = 0; k < axes.size(); ++k) {
        if constexpr (RaggedDataset<Data>)
          rows[k] = data.rows(axes[k], i);
        else
          fail("mean_step_cost: the data set has no ragged axis '", axes[k], "'");
      }
      const OfExample& of = cost_of(rows);
      flops += of.flops;
      moved += of.moved;
    }
  }
  const double n = static_cast<double>(steps);
  return {examples / n, Flops(flops / n + fixed_flops), Bytes(4 * (moved / n + fixed_moved)), parameters};
}

}  // namespace algoperf
