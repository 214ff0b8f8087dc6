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
//   classes()                  labels are in [0, classes())
//   gather(indices, n, x, y)   writes example indices[i] to x + i * shape().size() and its label to y[i]; x may be of
//                              any arithmetic type (Host<double> asks for double)
template <class D>
concept Dataset = requires(const D& d, const std::uint32_t* indices, typename D::Input* x, std::int32_t* y) {
  { d.size() } -> std::convertible_to<std::size_t>;
  { d.shape() } -> std::convertible_to<Shape>;
  { d.classes() } -> std::convertible_to<std::size_t>;
  d.gather(indices, std::size_t{}, x, y);
};

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
//   hear(state, squares)               with listens_to_gradients = true: what a combiner that measures gradients found,
//                                      its GradientSquares, after the step
template <class D>
concept DataSelector = requires(const D& d, typename D::State& state, Step step, Selection& selection) {
  { d.batch } -> std::convertible_to<std::size_t>;
  { d.state(std::size_t{}) } -> std::same_as<typename D::State>;
  { d.select(state, step, selection) } -> std::same_as<void>;
};

}  // namespace algoperf
