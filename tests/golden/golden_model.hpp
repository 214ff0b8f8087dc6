// The golden values of a model: see golden_models.py. Runs a TrainingLoop against them.
#pragma once

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace golden {

struct ModelTensor {
  const char* name;
  std::vector<double> gradient;  // the first; empty for a buffer
  std::vector<double> values;    // after three steps of AdamW
};
struct Model {
  std::vector<double> losses;  // of these steps
  std::vector<ModelTensor> tensors;
};

// Selects examples 0 to batch - 1, in this order, in every step.
struct WholeBatch {
  std::size_t batch = 1;
  struct State {
    template <class Archive>
    void visit(Archive&) {}
  };
  State state(std::size_t) const { return {}; }
  void select(State&, algoperf::Step, algoperf::Selection& selection) const {
    selection.indices.clear();
    for (std::size_t i = 0; i < batch; ++i) selection.indices.push_back(static_cast<std::uint32_t>(i));
    selection.weights.assign(batch, 1.0f);
  }
};

// The largest absolute difference, divided by the largest expected magnitude. The divisor is at least 1e-3, because
// some gradients are 0 apart from rounding.
template <class Values>
double error_of(const Values& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double most = 0, largest = 1e-3;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::abs(found[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return most / largest;
}

template <class Loop>
void set_first_values(Loop& loop, const Model& expected) {
  REQUIRE(loop.layout().tensors().size() == expected.tensors.size());
  for (std::size_t k = 0; k < expected.tensors.size(); ++k) {
    if (expected.tensors[k].gradient.empty()) continue;
    const std::string name = expected.tensors[k].name;
    const auto values = loop.values(name);
    REQUIRE(values.size() == expected.tensors[k].values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 0.4 * std::sin(1 + 0.7 * static_cast<double>(k) + 1.3 * static_cast<double>(i)) +
                  (name.ends_with("scale") ? 1 : 0);
  }
}

// Compares the loss and every gradient with torch's.
template <class ModelFunction, class Loss, class Data>
void check_gradients(const ModelFunction& model, const Loss& loss, const Data& data, const Model& expected) {
  using namespace algoperf;
  TrainingLoop loop(model, loss, sgd(), Constant{1.0}, WholeBatch{data.size()}, Host<double>{});
  set_first_values(loop, expected);
  const std::vector<double> before(loop.values(), loop.values() + loop.layout().size());
  CHECK(std::abs(*loop.step(data).loss - expected.losses[0]) <= 1e-13 * expected.losses[0]);
  for (const ModelTensor& tensor : expected.tensors) {
    if (tensor.gradient.empty()) continue;
    const std::string name = tensor.name;
    CAPTURE(name);
    const TensorPlace place = loop.layout().place_of(loop.layout().find(name));
    std::vector<double> gradient;
    for (std::size_t i = place.offset; i < place.offset + place.size; ++i)
      gradient.push_back(before[i] - loop.values()[i]);
    CHECK(error_of(gradient, tensor.gradient) < 1e-11);
  }
}

// Compares the losses and the values of three steps of AdamW with torch's. Returns the predictions after them. Tensors
// whose names end in `zero_by_construction` have gradients that are 0 apart from rounding. AdamW divides this rounding
// error by about its eps, 1e-8, so these tensors have a tolerance of 1e-9 instead of 1e-10.
template <class ModelFunction, class Loss, class Data>
std::vector<double> check_steps(const ModelFunction& model, const Loss& loss, const Data& data, const Model& expected,
                                const char* zero_by_construction = "(none)") {
  using namespace algoperf;
  TrainingLoop loop(model, loss, adamw({.weight_decay = 0.1}), Constant{0.01}, WholeBatch{data.size()}, Host<double>{});
  set_first_values(loop, expected);
  for (const double of_step : expected.losses) CHECK(std::abs(*loop.step(data).loss - of_step) <= 1e-12 * of_step);
  for (const ModelTensor& tensor : expected.tensors) {
    const std::string name = tensor.name;
    CAPTURE(name);
    CHECK(error_of(loop.values(name), tensor.values) < (name.ends_with(zero_by_construction) ? 1e-9 : 1e-10));
  }
  return loop.predict(data);
}

}  // namespace golden
