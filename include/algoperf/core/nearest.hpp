// nearest: finds the candidate for "did you mean ...?" when a user mistypes a name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "config.hpp"

namespace algoperf {

// Returns the minimum number of single-letter insertions, deletions and replacements that turn a into b (Levenshtein
// 1966).
inline std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// Returns the candidate with the smallest edit distance to `name`; of ties, the first. There must be at least one
// candidate.
inline const std::string& nearest(const std::string& name, const std::vector<std::string>& candidates) {
  return *std::min_element(candidates.begin(), candidates.end(), [&](const std::string& a, const std::string& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
}

}  // namespace algoperf
