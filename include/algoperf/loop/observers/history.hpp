#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../concept.hpp"

namespace algoperf {

// Appends every evaluation of one of a run's evaluating observers to the caller's vector. `source` selects the observer
// (loop/concept.hpp). A resumed run restores the earlier evaluations.
struct History {
  static constexpr bool never_stops = true;
  static constexpr const char* name = "History";
  std::vector<EvaluationReport>& evaluations;
  std::size_t source = 0;

  // visit() does not save metric names, so after a resume they are taken from the evaluating observer.
  template <class Run>
  Control ready(Run& run) const {
    const MetricFacts metric = run.metric(source);
    for (EvaluationReport& e : evaluations) {
      if (*e.metric_name != 0) continue;
      e.metric_name = metric.name;
      e.lower_is_better = metric.lower_is_better;
    }
    return Control::go_on;
  }
  template <class Run>
  Control after_evaluation(Run&, const EvaluationReport& report) const {
    if (report.source == source) evaluations.push_back(report);
    return Control::go_on;
  }

  template <class Archive>
  void visit(Archive& archive) const {
    std::uint64_t size = evaluations.size();
    archive.number("size", size);
    if constexpr (Archive::reading) evaluations.clear();  // grows with the entries found, not to the declared size
    for (std::uint64_t i = 0; i < size; ++i) {
      if constexpr (Archive::reading) evaluations.push_back({.source = source});
      EvaluationReport& e = evaluations[static_cast<std::size_t>(i)];
      archive.number("step", e.step);
      archive.number("loss", e.loss);
      archive.number("metric", e.metric);
      archive.number("training_seconds", e.training_seconds);
      archive.number("evaluation_seconds", e.evaluation_seconds);
    }
  }
};

}  // namespace algoperf
