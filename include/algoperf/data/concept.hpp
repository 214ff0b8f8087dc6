// What data/ is about. A Dataset is examples that can be copied, by index, into a batch; a DataSelector says which
// examples the next step learns from, and how much each weighs.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/random.hpp"
#include "../core/shape.hpp"
#include "../core/step.hpp"

namespace algoperf {

// Dataset: an indexed, immutable set of labelled examples.
//   Input                      the element type of the inputs: float for dense features, std::int32_t for tokens
//   size()                     number of examples
//   shape()                    shape of one example's input (28x28x1 for images, rows x columns x channels)
//   classes()                  labels are whole numbers in [0, classes())
//   gather(indices, n, x, y)   writes example indices[i] to x + i * shape().size() and its label to y[i]; x may be of
//                              any arithmetic type (Host<double> asks for double)
// Examples whose labels are numbers to be predicted (losses/mean_squared_error.hpp) have, instead of classes(),
//   Label                      their element type: float or double
//   label_shape()              of one example's label; gather writes it to y + i * label_shape().size(), of any type
template <class D>
concept RegressionDataset = requires(const D& d, const std::uint32_t* indices, typename D::Input* x,
                                     typename D::Label* y) {
  { d.size() } -> std::convertible_to<std::size_t>;
  { d.shape() } -> std::convertible_to<Shape>;
  { d.label_shape() } -> std::convertible_to<Shape>;
  d.gather(indices, std::size_t{}, x, y);
};
template <class D>
concept Dataset = RegressionDataset<D> ||
    requires(const D& d, const std::uint32_t* indices, typename D::Input* x, std::int32_t* y) {
  { d.size() } -> std::convertible_to<std::size_t>;
  { d.shape() } -> std::convertible_to<Shape>;
  { d.classes() } -> std::convertible_to<std::size_t>;
  d.gather(indices, std::size_t{}, x, y);
};

namespace detail {

template <class D>
struct LabelOfData {
  using type = std::int32_t;
};
template <RegressionDataset D>
struct LabelOfData<D> {
  using type = typename D::Label;
};
template <class D>
using LabelOf = typename LabelOfData<D>::type;

// Whether it says that it has none.
template <class D>
concept Unlabelled = requires {
  requires !D::has_labels;
};

// Numbers of one example's label.
template <class D>
std::size_t label_width(const D& data) {
  if constexpr (RegressionDataset<D>)
    return data.label_shape().size();
  else
    return 1;
}

}  // namespace detail

// The examples of one step. Losses are weighted by `weights` and divided by the number of examples, so a weight of
// 1 / (size * probability) keeps the gradient unbiased whatever the probabilities are.
struct Selection {
  std::vector<std::uint32_t> indices;
  std::vector<float> weights;  // as many as indices
};

// DataSelector: a plain value of options (batch, seed) with
//   batch                              the largest selection, in examples
//   State                              what it remembers; has visit(archive) so that a run can resume
//   state(size)                        a fresh State for a data set of `size` examples; throws Error on bad options
//   select(state, step, selection)     writes the next selection in place (no allocation after the first call)
//   feedback(state, selection, losses) optional: one loss per selected example, after the step
//   gradient_feedback(state, squares)  with has_gradient_feedback = true: what a measuring combiner found,
//                                      its GradientSquares, after the step
template <class D>
concept DataSelector = requires(const D& d, typename D::State& state, Step step, Selection& selection) {
  { d.batch } -> std::convertible_to<std::size_t>;
  { d.state(std::size_t{}) } -> std::same_as<typename D::State>;
  { d.select(state, step, selection) } -> std::same_as<void>;
};

}  // namespace algoperf
