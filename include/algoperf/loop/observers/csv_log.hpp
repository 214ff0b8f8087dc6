#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "../../state/archive.hpp"
#include "../../state/atomic_file.hpp"
#include "../concept.hpp"

namespace algoperf {

// Writes the evaluations of one of a run's evaluating observers as CSV: step, training_seconds, evaluation_seconds,
// loss, metric. `source` selects the observer (loop/concept.hpp). The file is written when the run ends, even if the
// run throws. Until then, and if there were no evaluations, an existing file is not overwritten.
class CsvLog {
 public:
  static constexpr bool never_stops = true, root_only = true;
  static constexpr const char* name = "CsvLog";

  explicit CsvLog(std::string path, std::size_t source = 0) : path_(std::move(path)), source_(source) {}

  template <class Run>
  void begin(Run&) {
    AtomicFile probe(path_);  // fails now, not after an hour of training, if the folder is not writable
  }
  template <class Run>
  Control after_evaluation(Run&, const EvaluationReport& report) {
    if (report.source != source_) return Control::go_on;
    char line[160];
    if (rows_.empty())
      rows_ = std::string("step,training_seconds,evaluation_seconds,loss,") + report.metric_name + "\n";
    std::snprintf(line, sizeof line, "%llu,%.6f,%.6f,%.9g,%.9g\n", static_cast<unsigned long long>(report.step),
                  report.training_seconds, report.evaluation_seconds, report.loss, report.metric);
    rows_ += line;
    return Control::go_on;
  }
  template <class Run>
  void end(Run&, const RunReport&) const {
    if (rows_.empty()) return;
    write_file(path_, rows_);
  }

  template <class Archive>
  void visit(Archive& archive) {
    visit_text(archive, "size", "rows", rows_);
  }

 private:
  std::string path_, rows_;
  std::size_t source_;
};

}  // namespace algoperf
