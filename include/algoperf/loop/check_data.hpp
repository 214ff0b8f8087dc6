// Says in sentences why a data set does not fit a model and its loss.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../core/error.hpp"
#include "../data/concept.hpp"
#include "../nn/describe.hpp"

namespace algoperf::detail {

template <class Data>
constexpr void check_labelled() {
  static_assert(!Unlabelled<Data>,
                "algoperf: inputs without labels are to predict from, not to train on or to evaluate by");
}

// Throws Error. The model takes examples of shape `in`, whose numbers it reads as `Input`.
template <class Input, class Data>
void check_inputs(Shape in, const Data& data) {
  static_assert(std::is_integral_v<typename Data::Input> || !std::is_integral_v<Input>,
                "algoperf: the model reads tokens (whole numbers), the data set holds other numbers");
  const Shape shape = data.shape();
  require(shape.size() == in.size(), "data: an example has ", shape.size(), " inputs, the model takes ", in.size());
  require(shape == in || shape.rank != 3 || in.rank != 3, "data: an example is an image of shape ", describe(shape),
          ", the model takes ", describe(in), " (rows, columns, channels)");
  require(data.size() > 0, "data: the data set is empty");
}

// Throws Error. `Context` is a TrainingContext.
template <class Context, class Data>
void check_fits(const Context& context, const Data& data) {
  check_inputs<typename Context::Input>(context.model().input(), data);
  using Label = LabelOf<Data>;
  constexpr bool labelled = !Unlabelled<Data>;
  static_assert(!labelled || std::is_integral_v<Label> == std::is_integral_v<typename Context::Label>,
                "algoperf: the loss and the data do not fit: cross-entropies take data whose labels are classes, "
                "MeanSquaredError and BinaryCrossEntropy data whose labels are numbers (InMemoryRegression)");
  const std::size_t outputs = context.model().output().size();
  if constexpr (!std::is_integral_v<Label>) {
    const std::size_t numbers = label_width(data);
    require(numbers == outputs, "data: a label is ", numbers, " numbers, the model has ", outputs, " outputs");
  } else if constexpr (labelled) {
    require(data.classes() <= context.classes(), "data: the data has ", data.classes(), " classes, the model ", outputs,
            " outputs");
  }
}

}  // namespace algoperf::detail
