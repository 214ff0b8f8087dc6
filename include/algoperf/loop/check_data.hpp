// Checks that a data set fits a model and its loss, with readable error messages.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/describe_shape.hpp"
#include "../core/error.hpp"
#include "../data/concept.hpp"

namespace algoperf::detail {

template <class Data>
constexpr void check_labelled() {
  static_assert(!Unlabelled<Data>,
                "algoperf: inputs without labels can be used for prediction only, not for training or evaluation");
}

// Throws Error unless the inputs of `data` fit a model that takes examples of shape `in` with elements of type `Input`.
template <class Input, class Data>
ALGOPERF_COLD void check_inputs(Shape in, const Data& data) {
  static_assert(std::is_integral_v<typename Data::Input> || !std::is_integral_v<Input>,
                "algoperf: the model takes tokens (integers), but the inputs of the data set are not integers");
  const Shape shape = data.shape();
  require(shape.size() == in.size(), "data: an example has ", shape.size(), " inputs, the model takes ", in.size());
  require(shape == in || shape.rank != 3 || in.rank != 3, "data: an example is an image of shape ", describe(shape),
          ", the model takes ", describe(in), " (rows, columns, channels)");
  require(data.size() > 0, "data: the data set is empty");
  require(data.size() <= max_examples, "data: the data set has ", data.size(), " examples, expected at most ",
          max_examples, ": indices have 32 bits");
}

// Throws Error unless `data` fits the model and the loss of `context`, a TrainingContext.
template <class Context, class Data>
ALGOPERF_COLD void check_fits(const Context& context, const Data& data) {
  check_inputs<typename Context::Input>(context.input(), data);
  using Label = LabelOf<Data>;
  constexpr bool labelled = !Unlabelled<Data>;
  static_assert(!labelled || std::is_integral_v<Label> == std::is_integral_v<typename Context::Label>,
                "algoperf: the loss does not fit the labels of the data: cross-entropies take class labels, "
                "MeanSquaredError and BinaryCrossEntropy take real-valued labels (InMemoryRegression)");
  const std::size_t outputs = context.output_size();
  if constexpr (!std::is_integral_v<Label>) {
    const std::size_t numbers = label_width(data);
    require(numbers == outputs, "data: a label has ", numbers, " values, the model has ", outputs, " outputs");
  } else if constexpr (labelled) {
    require(data.classes() <= context.classes(), "data: the data has ", data.classes(), " classes, the model ", outputs,
            " outputs");
  }
}

// Returns a sentence for each fact about data that fits the model but was probably not intended.
template <class Context, class Selector, class Data>
ALGOPERF_COLD std::vector<std::string> doubts_about(const Context& context, const Selector& selector,
                                                    const Data& data) {
  std::vector<std::string> doubts;
  if constexpr (requires { selector.warning(data.size()); })
    if (std::string doubt = selector.warning(data.size()); !doubt.empty()) doubts.push_back(std::move(doubt));
  const Shape shape = context.input();
  if (shape.rank == 3 && shape[0] <= 4 && shape[1] == shape[2] && shape[2] > 4)
    doubts.push_back("data: the model reads an example of shape " + describe(shape) + " as " +
                     std::to_string(shape[0]) + " rows, " + std::to_string(shape[1]) + " columns and " +
                     std::to_string(shape[2]) +
                     " channels; channels come last: " + describe(Shape{shape[1], shape[2], shape[0]}));
  if constexpr (std::is_integral_v<typename Context::Label>)
    if (data.classes() < context.classes())
      doubts.push_back("data: the data has " + std::to_string(data.classes()) + " classes, the model " +
                       std::to_string(context.classes()) + " outputs; the surplus outputs have no examples");
  return doubts;
}

}  // namespace algoperf::detail
