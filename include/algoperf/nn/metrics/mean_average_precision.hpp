#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/error.hpp"
#include "evaluated_rows.hpp"
#include "scored_rows.hpp"

namespace algoperf {

// The mean over tasks of the average precision of a binary classifier. Row t of an example's outputs, on an axis with
// several rows per example, has the logit of task t; outputs with one row per example are one task.
//   average precision = sum_n (R_n - R_(n-1)) P_n
// where P_n and R_n are the precision and the recall at the n-th highest distinct score. Rows of weight 0, whose label
// is missing, and tasks without labels of both classes are left out. Source: AlgoPerf's ogbg, after Hu et al. 2020,
// arXiv:2005.00687; sklearn's average_precision_score of each task, with its sample_weight. Keeps a score per row.
// value returns NaN if a score is not a number, and throws Error if no task has labels of both classes.
struct MeanAveragePrecision {
  static constexpr const char* name = "mean average precision";
  static constexpr bool lower_is_better = false;

  using Row = ScoredRow;
  struct State {
    std::vector<std::vector<Row>> tasks;
  };

  template <class S>
  void add(State& state, const EvaluatedRows<S, std::int32_t>& batch) const {
    require(batch.width == 1, "MeanAveragePrecision: the model has ", batch.width,
            " outputs per row, expected 1: a row per task");
    for (std::size_t e = 0; e < batch.examples; ++e)
      for (std::size_t r = batch.output_rows.begin(e), task = 0; r < batch.output_rows.end(e); ++r, ++task) {
        if (state.tasks.size() <= task) state.tasks.resize(task + 1);
        if (batch.weight(r) > 0)
          state.tasks[task].push_back({static_cast<double>(batch.outputs[r]), batch.weight(r), batch.labels[r] == 1});
      }
  }
  double value(const State& state) const {
    double sum = 0;
    std::size_t counted = 0;
    for (const std::vector<Row>& rows : state.tasks) {
      std::size_t positives = 0;
      for (const Row& row : rows) positives += row.positive;
      if (positives == 0 || positives == rows.size()) continue;
      sum += average_precision(rows);
      ++counted;
    }
    require(counted > 0, "MeanAveragePrecision: no task has labels of both classes");
    return sum / static_cast<double>(counted);
  }

 private:
  static double average_precision(std::vector<Row> rows) {
    for (const Row& row : rows)
      if (row.score != row.score) return row.score;
    detail::sort_by_score(rows);
    double all = 0, found = 0, above = 0, precision = 0;
    for (const Row& row : rows) all += row.positive ? row.weight : 0;
    for (std::size_t i = 0; i < rows.size();) {
      const double score = rows[i].score, before = found;
      for (; i < rows.size() && rows[i].score == score; ++i) {
        above += rows[i].weight;
        found += rows[i].positive ? rows[i].weight : 0;
      }
      precision += (found - before) / all * (found / above);
    }
    return precision;
  }
};

}  // namespace algoperf
