#pragma once

#include "../../core/error.hpp"
#include "../../core/math.hpp"
#include "../concept.hpp"

namespace algoperf {

// Sigmoid cross-entropy: every class is a yes-or-no question by itself, with label smoothing and example weights:
//   loss_i = sum_c max(z_ic, 0) - q_ic z_ic + log(1 + exp(-|z_ic|)),   q_ic = (1 - s) [c = label_i] + s / 2
//   d_logits_ic = weight_i / batch * (sigmoid(z_ic) - q_ic)
// With one logit the question is whether the label is 1: q_i = (1 - s) label_i + s / 2. losses are unweighted, in nats.
// label_smoothing s in [0, 1). torch's BCEWithLogitsLoss, summed over classes and averaged over examples; optax's
// sigmoid_binary_cross_entropy.
struct SigmoidCrossEntropy {
  double label_smoothing = 0;

  void check() const {
    require(label_smoothing >= 0 && label_smoothing < 1, "SigmoidCrossEntropy: label_smoothing is ", label_smoothing,
            ", expected [0, 1)");
  }

  static constexpr std::size_t classes_of(std::size_t outputs) { return outputs == 1 ? 2 : outputs; }

  // Tells a tally what it does to the outputs of a batch.
  template <class Tally>
  constexpr void count(std::uint64_t batch, std::uint64_t classes, Tally& tally) const {
    tally.operation({"loss", batch * (14 * classes + 5), batch * (classes + 2), batch * (classes + 1)});
  }

  template <class S>
  struct Row {
    using T = Arithmetic<S>;
    std::size_t classes;
    const S* logits;
    const std::int32_t* labels;
    const T* weights;
    T* losses;
    S* d_logits;  // null when only losses are wanted
    T smoothing, scale;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* const z = logits + r * classes;
      const std::size_t yes = classes == 1 ? std::size_t(labels[r] != 1) : static_cast<std::size_t>(labels[r]);
      const T no = T(0.5) * smoothing, more = T(1) - smoothing;
      losses[r] = team.template sum<T>(classes, [=](std::size_t c) {
        const T q = c == yes ? more + no : no;
        return math::max(T(z[c]), T(0)) - q * z[c] + math::log(T(1) + math::exp(-math::abs(T(z[c]))));
      });
      if (d_logits == nullptr) return;
      S* const d = d_logits + r * classes;
      const T weight = weights[r] * scale;
      team.each(classes, [=](std::size_t c) {
        const T q = c == yes ? more + no : no;
        d[c] = S(weight * (math::sigmoid(T(z[c])) - q));
      });
    }
  };

  // d_logits may be null. weights may be null only when d_logits is.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t classes, const S* logits, const std::int32_t* labels,
             const Arithmetic<S>* weights, Arithmetic<S>* losses, S* d_logits) const {
    backend.for_each_row(
        batch, 16 * classes,
        Row<S>{classes, logits, labels, weights, losses, d_logits, static_cast<Arithmetic<S>>(label_smoothing),
               static_cast<Arithmetic<S>>(1.0 / static_cast<double>(batch))});
  }
};

}  // namespace algoperf
