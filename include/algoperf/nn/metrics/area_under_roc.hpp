#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/error.hpp"
#include "evaluated_rows.hpp"
#include "scored_rows.hpp"

namespace algoperf {

// The area under the receiver operating characteristic curve (AUC) of a binary classifier: the probability that a row
// of class 1 has a higher score than a row of class 0, where equal scores count one half. The score is the output, or
// with two outputs the second minus the first. Higher is better; random scores have 0.5.
// Source: Fawcett 2006, "An introduction to ROC analysis", section 7. sklearn's roc_auc_score, with its sample_weight.
// Keeps a score per row. value returns NaN if a score or a weight is not a number, and throws Error if the rows of a
// class have no weight.
struct AreaUnderRoc {
  static constexpr const char* name = "AUC";
  static constexpr bool lower_is_better = false;

  using Row = ScoredRow;
  struct State {
    std::vector<Row> rows;
  };

  template <class S>
  void add(State& state, const EvaluatedRows<S, std::int32_t>& batch) const {
    require(batch.width == 1 || batch.width == 2, "AreaUnderRoc: the model has ", batch.width,
            " outputs, expected 1 or 2: it measures binary classifiers");
    for (std::size_t i = 0; i < batch.rows; ++i) {
      const S* const z = batch.outputs + i * batch.width;
      const double score = batch.width == 1 ? static_cast<double>(z[0]) : static_cast<double>(z[1]) - z[0];
      state.rows.push_back({score, batch.weight(i), batch.labels[i] == 1});
    }
  }
  double value(const State& state) const {
    std::vector<Row> rows = state.rows;
    for (const Row& row : rows)
      if (row.score != row.score || row.weight != row.weight) return row.score + row.weight;
    detail::sort_by_score(rows);
    double negatives = 0, positives = 0, area = 0;
    for (std::size_t i = 0; i < rows.size();) {
      double of_score[2] = {};  // the weights of the negative and positive rows with this score
      const double score = rows[i].score;
      for (; i < rows.size() && rows[i].score == score; ++i) of_score[rows[i].positive ? 1 : 0] += rows[i].weight;
      area += of_score[0] * (positives + of_score[1] / 2);
      negatives += of_score[0];
      positives += of_score[1];
    }
    require(negatives > 0 && positives > 0, "AreaUnderRoc: the rows of class ", positives > 0 ? 0 : 1,
            " have a weight of 0 in all, expected rows of both classes");
    return area / (negatives * positives);
  }
};

}  // namespace algoperf
