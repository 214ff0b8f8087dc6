#pragma once

#include "../../core/error.hpp"
#include "sigmoid_row.hpp"

namespace algoperf {

// Sigmoid cross-entropy for examples with one class each, with label smoothing and example weights. Each class is an
// independent binary decision. For several classes per example, use BinaryCrossEntropy.
//   loss_i = sum_c max(z_ic, 0) - q_ic z_ic + log(1 + exp(-|z_ic|)),   q_ic = (1 - s) [c = label_i] + s / 2
//   d_logits_ic = weight_i / batch * (sigmoid(z_ic) - q_ic)
// With one logit, the decision is whether the label is 1: q_i = (1 - s) label_i + s / 2. losses are unweighted, in
// nats. label_smoothing s in [0, 1). Equivalent to torch's BCEWithLogitsLoss and optax's sigmoid_binary_cross_entropy,
// summed over classes and averaged over examples.
struct SigmoidCrossEntropy {
  double label_smoothing = 0;

  void check() const {
    require(label_smoothing >= 0 && label_smoothing < 1, "SigmoidCrossEntropy: label_smoothing is ", label_smoothing,
            ", expected [0, 1)");
  }

  static constexpr std::size_t classes_of(std::size_t outputs) { return outputs == 1 ? 2 : outputs; }

  // Reports the operations on the outputs of a batch to a tally.
  template <class Tally>
  constexpr void count(std::uint64_t batch, std::uint64_t classes, Tally& tally) const {
    tally.operation({"loss", batch * (14 * classes + 1), batch * (classes + 2), batch * (classes + 1)});
  }

  // The target q_rc of logit c of example r.
  template <class T>
  struct Target {
    std::size_t classes;
    const std::int32_t* labels;
    T yes, no;
    ALGOPERF_HD T operator()(std::size_t r, std::size_t c) const {
      const std::size_t at = classes == 1 ? std::size_t(labels[r] != 1) : static_cast<std::size_t>(labels[r]);
      return c == at ? yes : no;
    }
  };

  // d_logits may be null. weights may be null only when d_logits is.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t classes, const S* logits, const std::int32_t* labels,
             const Arithmetic<S>* weights, Arithmetic<S>* losses, S* d_logits) const {
    using T = Arithmetic<S>;
    const Target<T> target{classes, labels, static_cast<T>(1 - 0.5 * label_smoothing),
                           static_cast<T>(0.5 * label_smoothing)};
    detail::sigmoid_cross_entropy(backend, batch, classes, logits, target, weights, losses, d_logits);
  }
};

}  // namespace algoperf
