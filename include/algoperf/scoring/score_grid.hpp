// ScoreGrid: one entry per submission and workload of a suite.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "concept.hpp"

namespace algoperf {

template <class T>
struct ScoreGrid {
  Suite suite;
  std::vector<std::string> submissions;
  std::vector<T> entries;  // submissions x workloads, row by row

  ScoreGrid(Suite suite_, std::vector<std::string> submissions_, const T& value = {})
      : suite(std::move(suite_)),
        submissions(std::move(submissions_)),
        entries(submissions.size() * suite.workloads.size(), value) {}

  T& at(std::size_t submission, std::size_t workload) {
    return entries[submission * suite.workloads.size() + workload];
  }
  const T& at(std::size_t submission, std::size_t workload) const {
    return entries[submission * suite.workloads.size() + workload];
  }
  // Returns the index of a submission. Throws Error if there is none of this name.
  std::size_t find(const std::string& submission) const {
    const auto found = std::find(submissions.begin(), submissions.end(), submission);
    require(found != submissions.end(), suite.name, ": there is no submission '", submission, "'");
    return static_cast<std::size_t>(found - submissions.begin());
  }
};

using StudyTimes = ScoreGrid<std::vector<double>>;  // a time per study that has logs, in the order of the studies
using TimeTable = ScoreGrid<double>;                // infinity: the target was missed; NaN: there are no logs

}  // namespace algoperf
