#pragma once

#include <string>
#include <utility>

#include "../concept.hpp"

namespace algoperf {

// Saves the loop whenever the run's first evaluating observer finds a better metric than in all earlier evaluations,
// including those before a resume. Of ties, the first is kept. Checkpoints keeps the last state; this observer keeps
// the best. Read the file with load_checkpoint, or in another program with load_evaluation_values, which reads the
// parameters that were evaluated (averages if the rule averages). A second run of a loop that Checkpoints does not
// resume starts without a best metric and overwrites the file of the first run: give each run its own file.
class BestCheckpoint {
 public:
  static constexpr bool never_stops = true;
  explicit BestCheckpoint(std::string path) : path_(std::move(path)) {}

  template <class Run>
  void begin(Run&) const {
    static_assert(Run::evaluates(),
                  "algoperf: BestCheckpoint needs evaluations: pass run(...) an observer that evaluates, e.g. "
                  "Evaluate(task, {.every = 500})");
  }
  template <class Run>
  Control after_evaluation(Run& run, const EvaluationReport& report) const {
    if (report.source == 0 && run.report().best.step == report.step) run.save(path_);
    return Control::go_on;
  }

 private:
  std::string path_;
};

}  // namespace algoperf
