#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "../../core/error.hpp"
#include "../../state/atomic_file.hpp"
#include "../concept.hpp"
#include "../stopwatch.hpp"

namespace algoperf {

struct StepLogOptions {
  std::uint64_t every = 1;    // steps between rows
  bool gradient_norm = true;  // measures the gradient's norm at every step, also between rows

  void check() const { require(every >= 1, "StepLogOptions: every is 0, expected at least 1"); }
};

// Writes steps as CSV while the run goes on: step, learning_rate, loss, gradient_norm, examples, training_seconds. The
// file is at most a second behind the run, so that it can be followed (`tail -f`) and survives a crash. A value that is
// not known is empty: the gradient's norm where losses are deferred (TrainingLoop::measure_gradient_norm). A run from
// its first step replaces an existing file; a resumed run keeps the rows up to the step at which it resumes and
// continues after them. Throws Error if the file cannot be written, and if a resumed run finds another kind of file.
class StepLog {
 public:
  static constexpr bool never_stops = true, root_only = true;

  explicit StepLog(std::string path, StepLogOptions options = {}) : path_(std::move(path)), options_(options) {
    options_.check();
  }
  ~StepLog() { close(); }
  StepLog(const StepLog&) = delete;
  StepLog& operator=(const StepLog&) = delete;

  template <class Run>
  void begin(Run& run) {
    if (options_.gradient_norm) run.loop().measure_gradient_norm(true);
  }
  template <class Run>
  Control ready(Run& run) {  // after a checkpoint was loaded, if there is one
    const std::string kept = run.loop().steps() == 0 ? header : rows_up_to(run.loop().steps());
    write_file(path_, kept);
    close();
    file_ = std::fopen(path_.c_str(), "ab");
    require(file_ != nullptr, path_, ": cannot be written: ", std::strerror(errno));
    return Control::go_on;
  }
  bool reads_loss(const StepReport& report) const { return report.now.t % options_.every == 0; }
  template <class Run>
  Control after_step(Run&, const StepReport& report) {
    if (report.now.t % options_.every != 0) return Control::go_on;
    std::string row = std::to_string(report.now.t);
    const auto add = [&](const char* format, double value) {
      char text[32];
      std::snprintf(text, sizeof text, format, value);
      row += text;
    };
    add(",%.9g,", report.now.learning_rate);
    if (report.loss) add("%.9g", *report.loss);
    row += ',';
    if (report.gradient_norm) add("%.9g", *report.gradient_norm);
    row += ',' + std::to_string(report.examples);
    add(",%.6f\n", report.training_seconds);
    write(row, unwritten_.seconds() > 1);
    return Control::go_on;
  }
  template <class Run>
  void end(Run& run, const RunReport&) {
    if (options_.gradient_norm) run.loop().measure_gradient_norm(false);
    if (file_ == nullptr) return;
    write("", true);
    close();
  }

 private:
  static constexpr const char* header = "step,learning_rate,loss,gradient_norm,examples,training_seconds\n";

  void close() {
    if (file_ != nullptr) std::fclose(file_);
    file_ = nullptr;
  }

  void write(const std::string& row, bool flush) {
    bool written = std::fwrite(row.data(), 1, row.size(), file_) == row.size();
    if (flush) {
      written = std::fflush(file_) == 0 && written;
      unwritten_ = Stopwatch();
    }
    require(written, path_, ": cannot be written: ", std::strerror(errno));
  }

  // Returns the header and the existing rows of steps 1 to `last`. A row that a crash cut off is left out.
  std::string rows_up_to(std::uint64_t last) const {
    std::string kept = header, line;
    std::FILE* const file = std::fopen(path_.c_str(), "rb");
    if (file == nullptr) return kept;
    bool first = true, ours = true;
    for (int c = 0; ours && (c = std::fgetc(file)) != EOF;) {
      line += static_cast<char>(c);
      if (c != '\n') continue;
      ours = !first || line == header;
      if (!first && std::strtoull(line.c_str(), nullptr, 10) <= last) kept += line;
      first = false;
      line.clear();
    }
    std::fclose(file);
    require(ours, path_, ": line 1 is not the header of a StepLog, expected ", header);
    return kept;
  }

  std::string path_;
  StepLogOptions options_;
  std::FILE* file_ = nullptr;
  Stopwatch unwritten_;  // since the last flush
};

}  // namespace algoperf
