#pragma once

#include "sigmoid_row.hpp"

namespace algoperf {

// Binary cross-entropy with example weights. A label holds one value q in [0, 1] per output: a probability, or
// 0 or 1 for each of several classes, any number of which may apply:
//   loss_i = sum_c max(z_ic, 0) - q_ic z_ic + log(1 + exp(-|z_ic|))
//   d_logits_ic = weight_i / batch (sigmoid(z_ic) - q_ic)
// losses are unweighted, in nats. Labels are neither smoothed nor checked to lie in [0, 1]. InMemoryRegression is a
// data set with such labels. This loss is also a metric. For one class per example, SigmoidCrossEntropy accepts class
// indices.
// Equivalent to torch's BCEWithLogitsLoss and optax's sigmoid_binary_cross_entropy, summed over outputs and averaged
// over examples.
struct BinaryCrossEntropy {
  template <class S>
  using Label = S;
  static constexpr const char* name = "binary cross-entropy";
  static constexpr bool lower_is_better = true;

  // Reports the operations on the outputs of a batch to a tally.
  template <class Tally>
  constexpr void count(std::uint64_t batch, std::uint64_t width, Tally& tally) const {
    tally.operation({"loss", batch * (14 * width + 1), batch * (2 * width + 1), batch * (width + 1)});
  }

  template <class T>
  struct Target {
    std::size_t width;
    const T* labels;
    ALGOPERF_HD T operator()(std::size_t r, std::size_t c) const { return labels[r * width + c]; }
  };

  // d_logits may be null. weights may be null only when d_logits is.
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t width, const S* logits, const Arithmetic<S>* labels,
             const Arithmetic<S>* weights, Arithmetic<S>* losses, S* d_logits) const {
    detail::sigmoid_cross_entropy(backend, batch, width, logits, Target<Arithmetic<S>>{width, labels}, weights, losses,
                                  d_logits);
  }
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t width, const S* logits, const Arithmetic<S>* labels,
             Arithmetic<S>* scores) const {
    write(backend, batch, width, logits, labels, nullptr, scores, static_cast<S*>(nullptr));
  }
};

}  // namespace algoperf
