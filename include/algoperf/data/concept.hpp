// The Dataset and DataSelector concepts. A Dataset is a set of examples that are copied by index into a batch. A
// DataSelector chooses the examples of the next step and their weights.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/random.hpp"
#include "../core/shape.hpp"
#include "../core/step.hpp"

namespace algoperf {

// Examples are indexed with 32 bits: the indices are 0 to UINT32_MAX - 1 (random.below takes their number).
inline constexpr std::size_t max_examples = UINT32_MAX;

// Pointers to consecutive examples in host memory.
template <class Input, class Label>
struct ExamplesInPlace {
  const Input* inputs;
  const Label* labels;
};

// Dataset: an indexed, immutable set of labelled examples.
//   Input                      the element type of the inputs: float for dense features, std::int32_t for tokens
//   size()                     number of examples, at most max_examples
//   shape()                    shape of one example's input (28x28x1 for images, rows x columns x channels)
//   classes()                  number of classes; labels are integers in [0, classes())
//   gather(indices, n, x, y)   writes example indices[i] to x + i * shape().size() and its label to y[i]; x may be of
//                              any arithmetic type (Host<double> uses double)
//   in_place(begin)            optional: an ExamplesInPlace that points to example `begin` and those after it, in host
//                              memory, as gather would copy them; evaluation then copies no examples. It takes effect
//                              only with `using ReadsInPlace = D;`, so that a class that derives from D and redefines
//                              gather does not inherit it
// A RegressionDataset has real-valued labels (nn/losses/mean_squared_error.hpp) and, instead of classes(),
//   Label                      the element type of the labels: float or double
//   label_shape()              shape of one example's label; gather writes it to y + i * label_shape().size(); y may be
//                              of any arithmetic type
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

// A data set whose examples can be read in place.
template <class D>
concept InPlaceDataset = std::same_as<typename D::ReadsInPlace, D> && requires(const D& d) {
  d.in_place(std::size_t{});
};

// A data set that declares has_labels = false.
template <class D>
concept Unlabelled = requires {
  requires !D::has_labels;
};

// Returns the number of elements of one example's label.
template <class D>
std::size_t label_width(const D& data) {
  if constexpr (RegressionDataset<D>)
    return data.label_shape().size();
  else
    return 1;
}

}  // namespace detail

// The examples of one step. Losses are multiplied by `weights` and divided by the number of examples. If examples
// are drawn with unequal probabilities, weights of 1 / (data set size * probability) keep the gradient unbiased.
struct Selection {
  std::vector<std::uint32_t> indices;
  std::vector<float> weights;  // same size as indices
};

// DataSelector: a plain value of options (batch, seed) with
//   batch                              the maximum size of a selection, in examples
//   State                              the state of the selector; has visit(archive) so that a run can resume
//   state(size)                        a new State for a data set of `size` examples; throws Error on invalid options
//   select(state, step, selection)     writes the next selection in place (no allocation after the first call)
//   warning(size)                      optional: a sentence if the options were probably not intended for a data set of
//                                      `size` examples, otherwise an empty string
//   feedback(state, selection, losses) optional: receives one loss per selected example, after the step
//   gradient_feedback(state, squares)  optional, with has_gradient_feedback = true: receives the GradientSquares that a
//                                      combiner measured, after the step
template <class D>
concept DataSelector = requires(const D& d, typename D::State& state, Step step, Selection& selection) {
  { d.batch } -> std::convertible_to<std::size_t>;
  { d.state(std::size_t{}) } -> std::same_as<typename D::State>;
  { d.select(state, step, selection) } -> std::same_as<void>;
};

}  // namespace algoperf
