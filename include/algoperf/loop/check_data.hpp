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

// Throws Error. `Context` is a TrainingContext.
template <class Context, class Data>
void check_fits(const Context& context, const Data& data) {
  static_assert(std::is_integral_v<typename Data::Input> || !std::is_integral_v<typename Context::Input>,
                "algoperf: the model reads tokens (whole numbers), the data set holds other numbers");
  const Shape in = context.model().input(), shape = data.shape();
  require(shape.size() == in.size(), "TrainingLoop: an example has ", shape.size(), " inputs, the model takes ",
          in.size());
  require(shape == in || shape.rank != 3 || in.rank != 3, "TrainingLoop: an example is an image of shape ",
          describe(shape), ", the model takes ", describe(in), " (rows, columns, channels)");
  using Label = LabelOf<Data>;
  constexpr bool labelled = !Unlabelled<Data>;
  static_assert(!labelled || std::is_integral_v<Label> == std::is_integral_v<typename Context::Label>,
                "algoperf: the loss and the data do not fit: cross-entropies take data whose labels are classes, "
                "MeanSquaredError data whose labels are numbers (InMemoryRegression)");
  const std::size_t outputs = context.model().output().size();
  if constexpr (!std::is_integral_v<Label>) {
    const std::size_t numbers = label_width(data);
    require(numbers == outputs, "TrainingLoop: a label is ", numbers, " numbers, the model has ", outputs, " outputs");
  } else if constexpr (labelled) {
    require(data.classes() <= context.classes(), "TrainingLoop: the data has ", data.classes(), " classes, the model ",
            outputs, " outputs");
  }
  require(data.size() > 0, "TrainingLoop: the data set is empty");
}

}  // namespace algoperf::detail
