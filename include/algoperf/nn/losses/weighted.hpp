#pragma once

#include <cstddef>

#include "../../core/config.hpp"

namespace algoperf {

// A loss whose rows have weights: a field of the batch with one real value of at least 0 per row of the outputs.
//   TrainingLoop loop(model, Weighted{SoftmaxCrossEntropy{}}, adamw(), ...);    // the data has a field "weight"
// The loss of a batch is sum(s w losses) / sum(w), where w are these weights and s those of the selection
// (data/concept.hpp). The sum in the divisor covers the examples of a worker; combiners weight workers by their sums.
// A row of weight 0, such as padding, contributes nothing to the loss, though Attention and BatchNorm still read it. If
// all weights of a worker are 0, its loss and gradient are 0.
// Evaluations weight losses and metrics in the same way. A selector with feedback sees w times the losses.
// torch: reduction="sum" divided by the weights' sum.
template <class Loss>
struct Weighted : Loss {
  const char* weight_field = "weight";
};
template <class Loss>
Weighted(Loss) -> Weighted<Loss>;
template <class Loss>
Weighted(Loss, const char*) -> Weighted<Loss>;

namespace detail {

template <class Loss>
concept HasWeightField = requires(const Loss& loss) {
  loss.weight_field;
};

// The functor of one team that computes the weights of gradients, which a loss divides by the number of rows:
// selection[i] row_weights[i] rows / sum(row_weights).
template <class S>
struct RowWeights {
  std::size_t rows;
  const S* selection;
  const S* row_weights;
  S* to;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t) const {
    const S *const w = row_weights, *const s = selection;
    const double total = team.template sum<double>(rows, [w](std::size_t i) { return static_cast<double>(w[i]); });
    const S scale = total > 0 ? static_cast<S>(static_cast<double>(rows) / total) : S(0);
    S* const out = to;
    team.each(rows, [=](std::size_t i) { out[i] = s[i] * (w[i] * scale); });
  }
};

}  // namespace detail

}  // namespace algoperf
