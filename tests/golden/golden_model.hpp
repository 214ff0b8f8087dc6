// The golden values of a model: see golden_models.py. Runs a TrainingLoop against them.
#pragma once

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../support/near.hpp"

namespace golden {

struct ModelTensor {
  const char* name;
  std::vector<double> gradient;  // the first; empty for a buffer
  std::vector<double> values;    // after three steps of AdamW
};
struct Model {
  std::vector<double> losses;  // of these steps
  std::vector<ModelTensor> tensors;
  std::vector<double> outputs;  // in evaluation, after these steps
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
    most = larger_or_nan(most, std::abs(found[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return most / largest;
}

// No name ends in an empty suffix.
inline bool ends_in(std::string_view name, std::string_view suffix) {
  return !suffix.empty() && name.ends_with(suffix);
}
// Whether an element of a tensor whose name ends in `suffix` has a gradient that is 0 by construction, such as the bias
// of attention's keys: torch's is 0 apart from rounding.
inline bool is_zero(const ModelTensor& tensor, std::size_t i, std::string_view suffix) {
  return ends_in(tensor.name, suffix) && std::abs(tensor.gradient[i]) < 1e-14;
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
void check_gradients(const ModelFunction& model, const Loss& loss, const Data& data, const Model& expected,
                     std::string_view zero) {
  using namespace algoperf;
  TrainingLoop loop(model, loss, sgd(), Constant{1.0}, WholeBatch{data.size()}, Host<double>{});
  set_first_values(loop, expected);
  const std::vector<double> before(loop.values(), loop.values() + loop.layout().size());
  CHECK(std::abs(*loop.step(data).loss - expected.losses[0]) <= 1e-13 * expected.losses[0]);
  std::size_t zeros = 0;
  for (const ModelTensor& tensor : expected.tensors) {
    if (tensor.gradient.empty()) continue;
    const std::string name = tensor.name;
    CAPTURE(name);
    const TensorPlace place = loop.layout().place_of(loop.layout().find(name));
    std::vector<double> gradient;
    for (std::size_t i = 0; i < place.size; ++i) {
      gradient.push_back(before[place.offset + i] - loop.values()[place.offset + i]);
      if (!is_zero(tensor, i, zero)) continue;
      ++zeros;
      CHECK(std::abs(gradient[i]) < 1e-14);
    }
    CHECK(error_of(gradient, tensor.gradient) < 1e-11);
  }
  CHECK((zeros > 0) == !zero.empty());
}

// Compares the losses and the values of three steps of AdamW with torch's, and the outputs after them. AdamW divides
// gradients that are 0 apart from rounding by about its eps, so values with such gradients are left out.
template <class ModelFunction, class Loss, class Data>
void check_steps(const ModelFunction& model, const Loss& loss, const Data& data, const Model& expected,
                 std::string_view zero, std::string_view followers) {
  using namespace algoperf;
  TrainingLoop loop(model, loss, adamw({.weight_decay = 0.1}), Constant{0.01}, WholeBatch{data.size()}, Host<double>{});
  set_first_values(loop, expected);
  for (const double of_step : expected.losses) CHECK(std::abs(*loop.step(data).loss - of_step) <= 1e-12 * of_step);
  for (const ModelTensor& tensor : expected.tensors) {
    const std::string name = tensor.name;
    CAPTURE(name);
    std::vector<double> values(loop.values(name).begin(), loop.values(name).end());
    for (std::size_t i = 0; i < tensor.gradient.size(); ++i)
      if (is_zero(tensor, i, zero)) values[i] = tensor.values[i];
    CHECK(error_of(values, tensor.values) < (ends_in(name, followers) ? 1e-9 : 1e-10));
  }
  CHECK(error_of(loop.predict(data), expected.outputs) < (followers.empty() ? 1e-10 : 1e-9));
}

// Compares a model with torch's: its loss, its gradients, three steps of AdamW, and its outputs in evaluation after
// them. `zero`: the suffix of tensors with gradients that are 0 by construction. `followers`: the suffix of running
// averages computed from their values; these averages and the outputs have a tolerance of 1e-9 instead of 1e-10.
template <class ModelFunction, class Loss, class Data>
void check(const ModelFunction& model, const Loss& loss, const Data& data, const Model& expected,
           std::string_view zero = {}, std::string_view followers = {}) {
  check_gradients(model, loss, data, expected, zero);
  check_steps(model, loss, data, expected, zero, followers);
}

}  // namespace golden
