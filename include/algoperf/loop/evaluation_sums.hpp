// EvaluationSums: what an evaluation adds up over batches.
#pragma once

#include <cstddef>

#include "../nn/metrics/evaluated_rows.hpp"

namespace algoperf::detail {

template <class Metric>
struct MetricState {
  using type = double;  // the sum of the scores of rows, times their weights
};
template <AccumulatingMetric Metric>
struct MetricState<Metric> {
  using type = typename Metric::State;
};

template <class Metric>
struct EvaluationSums {
  double loss = 0;    // of rows, times their weights
  double weight = 0;  // of rows: 1 each unless the loss is Weighted
  typename MetricState<Metric>::type state{};

  // Adds the rows of a batch, with `labels` labels, to an accumulator.
  template <class Rows>
  void add(const Metric& metric, const Rows& rows, std::size_t /* labels */) {
    metric.add(state, rows);
  }
  double metric(const Metric& metric) const {
    if constexpr (AccumulatingMetric<Metric>)
      return metric.value(state);
    else if constexpr (requires { metric.value(state / weight); })
      return metric.value(state / weight);
    else
      return state / weight;
  }
};

}  // namespace algoperf::detail
