// evaluate_all: the mean loss and the metric of a whole data set, which the ranks of a group evaluate together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "../core/error.hpp"
#include "../core/finite.hpp"
#include "../nn/concept.hpp"
#include "check_fields.hpp"
#include "evaluation_sums.hpp"
#include "loop_ranks.hpp"

namespace algoperf::detail {

struct LossAndMetric {
  double loss = 0, metric = 0;
};

// Evaluates the model of a GradientContext at `values`, `batch` examples at a time, after `step` steps. The ranks share
// the examples, unless the metric accumulates or generates: each rank then evaluates all. Throws Error if the weights
// of the rows sum to 0, and RankFailure, with the step, if the ranks' parameters differ. The metric of a model whose
// loss is not finite is NaN if it generates.
template <class Context, class Data, class Metric>
LossAndMetric evaluate_all(Context& context, const Data& data, const Metric& metric,
                           const typename Context::Scalar* values, std::size_t batch, std::uint64_t step) {
  check_fits(context.graph(), data);
  const Ranks& ranks = context.ranks();
  EvaluationSums<Metric> sums;
  constexpr bool shared = !AccumulatingMetric<Metric> && !GeneratingMetric<Metric>;
  const std::size_t parts = shared ? ranks.size() : 1, part = shared ? ranks.rank() : 0;
  const std::size_t end = data.size() * (part + 1) / parts;
  for (std::size_t begin = data.size() * part / parts; begin < end; begin += batch)
    context.evaluator().evaluate(data, metric, values, begin, end - begin < batch ? end - begin : batch, sums);
  if (!ranks.alone()) {
    double* scores = nullptr;
    if constexpr (shared) scores = &sums.state;
    add_over_ranks(ranks, values_of(context), step, sums.weight, sums.loss, scores);
  }
  require(sums.weight > 0, "TrainingLoop: the examples of an evaluation have no rows, or their weights are 0");
  LossAndMetric found{.loss = sums.loss / sums.weight};
  if constexpr (!GeneratingMetric<Metric>)
    found.metric = sums.metric(metric);
  else if (!finite_bits(sums.loss))
    found.metric = std::numeric_limits<double>::quiet_NaN();
  else
    found.metric = metric.score(
        [&](const auto& inputs) {
          check_fits(context.graph(), inputs, false);
          return context.evaluator().predict(inputs, values, batch);
        },
        data);
  return found;
}

}  // namespace algoperf::detail
