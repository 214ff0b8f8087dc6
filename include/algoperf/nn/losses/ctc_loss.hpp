#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../ops/check_alike.hpp"
#include "../ops/row_weights.hpp"
#include "ctc_kernel.hpp"

namespace algoperf {

// Connectionist temporal classification: the negative logarithm of the probability that the frames of an example spell
// its labels, divided by the number of labels (at least 1). The frames spell what is left of their classes after
// merging equal neighbours and then removing blanks:
//   loss_e = -log(sum over all such paths of prod over t of softmax(z_t)_(class of the path in frame t)) / labels of e
//   d_z_tc = weight_e / examples * (softmax(z_t)_c - P(the path has class c in frame t | labels)) / labels of e
// A loss that records itself (graph/objective.hpp). The outputs, frames x classes, lie on an axis with several rows per
// example. The labels are the field "label" on a ragged axis of their own; they are classes other than the blank.
//   TrainingLoop loop(model, CtcLoss{.max_labels = 20}, adamw(), ...);
// Hyperparameters: blank, a class; max_labels, the most labels of an example; axis, the labels' ragged axis;
//   weight_field: if not null, a field of one value per example by which its loss is weighted, as Weighted does. If the
//   field holds the numbers of labels, the loss of a batch is the sum of its negative log-likelihoods divided by the
//   number of its labels, as in AlgoPerf.
// An example needs a frame per label, and one more where two neighbouring labels are equal. A batch of a data set with
// an example that has too few frames, too many labels, or the blank among its labels throws Error. A GraphExecutor that
// is used without a data set checks only the number of labels; too few frames have an infinite loss there.
// Source: Graves et al. 2006, "Connectionist temporal classification", sections 4.1 and 4.2, with logarithms. As
//   torch's CTCLoss with its default, the mean of the losses per label; but the outputs are logits, torch's
//   log-probabilities.
// Cost: an example has 2 labels + 1 states. 7 FLOPs per output, and up to 39 per frame and state, counted for examples
//   of equal sizes. Keeps 4 max_labels + 3 values per frame.
struct CtcLoss {
  std::size_t blank = 0;
  std::size_t max_labels = 64;
  const char* axis = "symbols";
  const char* weight_field = nullptr;

  template <class Net>
  constexpr Value operator()(Net& net, Value outputs) const;
};

namespace detail {

template <std::size_t inputs>  // the outputs and the labels, and weights if 3
struct CtcOp {
  CtcLoss loss;
  static constexpr const char* name = "ctc_loss";
  static constexpr bool is_loss = true;
  using Inputs = std::array<Value, inputs>;

  constexpr std::size_t tokens(const Inputs& x, std::size_t k) const { return k == 1 ? x[0].shape.size() : 0; }
  constexpr OpTraits traits(const Inputs&) const {
    OpTraits traits;
    traits.memory.exact = 2 * states() + 1;
    traits.example_scratch = 1;  // the weights of gradients
    return traits;
  }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const Inputs& x) const {
    check_activations(net, own, x[0]);
    net.check(x[0].axis != examples_axis && x[0].shape.rank == 1, own, "the outputs have shape ", x[0].shape,
              " on the axis '", net.axis_name(x[0]), "', expected a row of classes for each of an example's frames");
    net.check(loss.blank < x[0].shape.size(), own, "blank is ", loss.blank, ", expected one of the ", x[0].shape.size(),
              " classes");
    net.check(loss.max_labels > 0 && loss.max_labels < (std::size_t{1} << 24), own, "max_labels is ", loss.max_labels,
              ", expected 1 to 2^24 - 1");
    return {no_index, examples_axis, Shape{1}, ElementType::parameter};
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const Inputs& x, Tally& tally) const {
    const std::uint64_t examples = net.examples(), outputs = net.rows(x[0]) * x[0].shape.size();
    const std::uint64_t states = examples == 0 ? 0 : net.rows(x[0]) * (2 * net.rows(x[1]) + examples) / examples;
    tally.operation({"loss", 7 * outputs + 39 * states, outputs + net.rows(x[1]), outputs + examples});
  }

  template <class Call>
  void forward(const Call& call) const {
    using T = typename Call::Scalar;
    write_row_losses<inputs == 3>(call, call.examples, call.example_scratch, [&](const T* weights) {
      using S = typename Call::S;
      const std::size_t frames = call.rows(0), classes = call.in_shape(0).size();
      T* const log_alphas = call.pass.exact + frames;
      const AxisRows &of_frames = call.axis_of(0), &of_labels = call.axis_of(1);
      call.pass.backend.for_each_row(
          call.examples, of_frames.longest * (7 * classes + 39 * (2 * of_labels.longest + 1)),
          CtcExample<S>{classes, loss.blank, states(), of_frames.rows, of_labels.rows, call.in(0), call.tokens(1),
                        weights, call.losses(), call.d_in(0), static_cast<T>(1.0 / static_cast<double>(call.examples)),
                        call.pass.exact, log_alphas, log_alphas + frames * states()});
    });
  }

 private:
  constexpr std::size_t states() const { return 2 * loss.max_labels + 1; }
};

}  // namespace detail

template <class Net>
constexpr Value CtcLoss::operator()(Net& net, Value outputs) const {
  const Value labels = net.tokens("label", {1}, net.ragged_axis(axis));
  const Value losses = weight_field == nullptr
                           ? net(detail::CtcOp<2>{*this}, outputs, labels)
                           : net(detail::CtcOp<3>{*this}, outputs, labels,
                                 net.field(weight_field, {1}, examples_axis, ElementType::parameter));
  net.limit_rows(labels.axis, max_labels, "CtcLoss's max_labels");
  net.align(labels, outputs.axis, blank);
  return losses;
}

}  // namespace algoperf
