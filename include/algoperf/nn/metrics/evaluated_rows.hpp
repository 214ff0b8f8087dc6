// EvaluatedRows: the rows that an accumulating metric, one with a State, receives.
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

#include "../../core/example_rows.hpp"

namespace algoperf {

// Rows of a batch of an evaluation, in host memory. The model's outputs have `width` elements per row. A row has one
// label if labels are classes (std::int32_t), or else `width` real-valued labels of type S. Labels may also lie on an
// axis of their own, such as the characters of a recording, which a metric compares with what it decodes from the rows.
template <class S, class Label>
struct EvaluatedRows {
  std::size_t rows = 0, width = 1;
  const S* outputs = nullptr;
  const Label* labels = nullptr;
  const S* weights = nullptr;  // of a Weighted loss; null if rows have no weights
  // The rows of outputs and of labels that each of the examples has.
  std::size_t examples = 0;
  ExampleRows output_rows = {}, label_rows = {};
  // The elements of each of the metric's fields(), in their order.
  std::vector<std::vector<S>> fields = {};

  double weight(std::size_t row) const { return weights == nullptr ? 1 : static_cast<double>(weights[row]); }
};

template <class Metric>
concept GeneratingMetric = requires {
  requires Metric::generates;
};

template <class Metric>
concept AccumulatingMetric = requires(const Metric& metric, const typename Metric::State& state) {
  { metric.value(state) } -> std::convertible_to<double>;
};

}  // namespace algoperf
