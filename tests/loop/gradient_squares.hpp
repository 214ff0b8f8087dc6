// What a combiner measures of gradients, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tiny.hpp"

namespace algoperf::testing {

// Selects the same examples at every step, and passes on what a combiner measures of their gradients.
struct MeasuredSelection {
  std::vector<GradientSquares>* squares;

  std::size_t batch = 0;
  std::vector<std::uint32_t> indices = {};
  std::vector<float> weights = {};
  static constexpr bool has_gradient_feedback = true;

  struct State {};
  State state(std::size_t) const { return {}; }
  void select(State&, Step, Selection& selection) const {
    selection.indices = indices;
    selection.weights = weights;
  }
  void gradient_feedback(State&, const GradientSquares& found) const { squares->push_back(found); }
};

// Returns what a combiner measures at each of three steps over all examples of a data set.
template <class Model, class Data, class Combiner, class Backend = Host<double>>
std::vector<GradientSquares> measure(const Model& model, const Data& data, const Combiner& combiner,
                                     std::size_t workers, std::vector<float> weights = {},
                                     const Backend& backend = {}) {
  const std::size_t n = data.size();
  if (weights.empty()) weights.assign(n, 1);
  std::vector<GradientSquares> squares;
  TrainingLoop loop(model, SoftmaxCrossEntropy{}, sgd(), Constant{0.1},
                    MeasuredSelection{&squares, n, range(0, static_cast<std::uint32_t>(n)), weights}, combiner,
                    InProcess{.workers = workers}, backend, Seed{4});
  for (int i = 0; i < 3; ++i) loop.step(data);
  return squares;
}

}  // namespace algoperf::testing
