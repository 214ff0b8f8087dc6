#pragma once

#include <cstdlib>
#include <vector>

#include "../../core/config.hpp"

namespace algoperf {

// A row of a binary classifier's evaluation.
struct ScoredRow {
  double score, weight;
  bool positive;
};

namespace detail {

// Sorts rows by falling scores. Rows of equal scores are sorted by their weights and labels, so that metrics do not
// depend on the order of the examples. std::qsort compiles faster than the sorts of <algorithm>.
void sort_by_score(std::vector<ScoredRow>& rows);

#if ALGOPERF_DEFINES_COMPILED
ALGOPERF_COMPILED ALGOPERF_COLD void sort_by_score(std::vector<ScoredRow>& rows) {
  if (rows.empty()) return;
  std::qsort(rows.data(), rows.size(), sizeof(ScoredRow), [](const void* first, const void* second) {
    const ScoredRow &a = *static_cast<const ScoredRow*>(first), &b = *static_cast<const ScoredRow*>(second);
    if (a.score != b.score) return a.score > b.score ? -1 : 1;
    if (a.weight != b.weight) return a.weight > b.weight ? -1 : 1;
    return static_cast<int>(b.positive) - static_cast<int>(a.positive);
  });
}
#endif

}  // namespace detail

}  // namespace algoperf
