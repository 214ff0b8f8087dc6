#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/layout.hpp"
#include "../../state/archive.hpp"
#include "../../state/atomic_file.hpp"
#include "../concept.hpp"

namespace algoperf {

// Writes as CSV, every `every` steps, how orthogonal the workers' gradients or updates are that Adasum combines: step,
// tensor, orthogonality, one row for each trained tensor, between 1 / W (equal vectors) and 1 (orthogonal vectors); for
// the formula, see Adasum::measure_orthogonality. Needs a loop with the combiner Adasum and at least two workers. The
// file is written when the run ends, by rank 0. Until then, an existing file is not overwritten.
class OrthogonalityLog {
 public:
  static constexpr bool never_stops = true;
  static constexpr const char* name = "OrthogonalityLog";

  OrthogonalityLog(std::string path, std::uint64_t every) : path_(std::move(path)), every_(every) {
    require(every > 0, "OrthogonalityLog: every is 0, expected at least 1");
  }

  template <class Run>
  void begin(Run& run) {
    if (run.is_root()) AtomicFile probe(path_);
    run.loop().measure_orthogonality(every_);
  }
  static bool reads_loss(const StepReport&) { return false; }
  template <class Run>
  Control after_step(Run& run, const StepReport& report) {
    if (report.now.t % every_ != 0) return Control::go_on;
    const std::vector<double>& of_tensors = run.loop().orthogonality();
    std::size_t i = 0;
    for (const TensorHandle handle : run.loop().layout().tensors()) {
      const TensorSpec& tensor = run.loop().layout().spec(handle);
      char number[32];
      std::snprintf(number, sizeof number, "%.6g", of_tensors[i++]);
      if (tensor.trained()) rows_ += std::to_string(report.now.t) + ',' + tensor.name + ',' + number + '\n';
    }
    return Control::go_on;
  }
  template <class Run>
  void end(Run& run, const RunReport&) {
    run.loop().measure_orthogonality(0);
    if (!run.is_root() || rows_.empty()) return;
    write_file(path_, "step,tensor,orthogonality\n" + rows_);
  }

  template <class Archive>
  void visit(Archive& archive) {
    visit_text(archive, "size", "rows", rows_);
  }

 private:
  std::string path_, rows_;
  std::uint64_t every_;
};

}  // namespace algoperf
