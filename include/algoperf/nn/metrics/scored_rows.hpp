#pragma once

#include <algorithm>
#include <vector>

#include "../../core/config.hpp"

namespace algoperf {

// A row of a binary classifier's evaluation.
struct ScoredRow {
  double score, weight;
  bool positive;
};

namespace detail {

// Sorts rows by falling scores. Rows with equal scores keep their order.
inline void sort_by_score(std::vector<ScoredRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const ScoredRow& a, const ScoredRow& b) { return a.score > b.score; });
}

}  // namespace detail

}  // namespace algoperf
