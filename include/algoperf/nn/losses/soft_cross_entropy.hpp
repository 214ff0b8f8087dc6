#pragma once

#include <type_traits>

#include "../../core/math.hpp"
#include "../concept.hpp"

namespace algoperf {

// Softmax cross-entropy with soft targets: a label is a distribution over the classes, as from mixup or a teacher. It
// holds one value per output, >= 0; the values of an example sum to 1.
//   loss_i = -sum_c q_ic log softmax(z_i)_c
//   d_logits_ic = weight_i / batch * (softmax(z_i)_c sum_k q_ik - q_ic)
// losses are unweighted, in nats. For a label that is 1 in one class and 0 in the others, this is SoftmaxCrossEntropy.
// As torch's cross_entropy with probabilities and optax.softmax_cross_entropy; the labels are not checked.
struct SoftCrossEntropy {
  template <class S>
  using Label = S;

  // Reports the operations on the outputs of a batch to a tally.
  template <class Tally>
  constexpr void count(std::uint64_t batch, std::uint64_t classes, Tally& tally) const {
    tally.operation({"loss", batch * (14 * classes + 2), batch * (2 * classes + 1), batch * (classes + 1)});
  }

  template <class S>
  struct Row {
    using T = Arithmetic<S>;
    std::size_t classes;
    const S* logits;
    const T* labels;
    const T* weights;
    T* losses;
    S* d_logits;  // null if only losses are required
    T scale;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* const z = logits + r * classes;
      const T* const q = labels + r * classes;
      const T top = team.template max<T>(classes, [z](std::size_t c) { return z[c]; });
      const T total = team.template sum<T>(classes, [z, top](std::size_t c) { return math::exp(z[c] - top); });
      const T log_total = math::log(total);  // of exp(z - top); below, top is added as top - z to avoid cancellation
      losses[r] = team.template sum<T>(
          classes, [z, q, top, log_total](std::size_t c) { return q[c] * (log_total + (top - z[c])); });
      if (d_logits == nullptr) return;
      const T mass = team.template sum<T>(classes, [q](std::size_t c) { return q[c]; });
      S* const d = d_logits + r * classes;
      const T weight = weights[r] * scale, over_total = mass / total;
      team.each(classes, [=](std::size_t c) { d[c] = S(weight * (math::exp(z[c] - top) * over_total - q[c])); });
    }
  };

  // d_logits may be null. weights may be null only when d_logits is.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t classes, const S* logits, const Arithmetic<S>* labels,
             const Arithmetic<S>* weights, Arithmetic<S>* losses, S* d_logits) const {
    backend.for_each_row(batch, 10 * classes,
                         Row<S>{classes, logits, labels, weights, losses, d_logits,
                                static_cast<Arithmetic<S>>(1.0 / static_cast<double>(batch))});
  }
};

}  // namespace algoperf
