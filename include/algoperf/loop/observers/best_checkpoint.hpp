#pragma once

#include <string>
#include <utility>

#include "../concept.hpp"

namespace algoperf {

// Saves the loop where the run's first evaluating observer finds the best metric so far, a resumed run's included; of
// equals, the first. For load_checkpoint, or load_evaluation_values in another program, which reads what was evaluated,
// averages where the rule averages: Checkpoints keeps the last, this the best. A second run of a loop, if Checkpoints
// does not resume it, knows nothing of the first one's best, and writes over its file: give it another.
class BestCheckpoint {
 public:
  static constexpr bool never_stops = true;
  explicit BestCheckpoint(std::string path) : path_(std::move(path)) {}

  template <class Run>
  void begin(Run&) const {
    static_assert(Run::evaluates(),
                  "algoperf: BestCheckpoint waits for evaluations: give run(...) an observer that evaluates, e.g. "
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
