#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "../../formats/event_file.hpp"
#include "../concept.hpp"
#include "../stopwatch.hpp"

namespace algoperf {

struct TensorBoardOptions {
  std::uint64_t every = 1;     // steps between points of the training curves
  bool gradient_norm = false;  // measures the gradient's norm at every step, also between points

  void check() const { require(every >= 1, "TensorBoardOptions: every is 0, expected at least 1"); }
};

// Writes curves for TensorBoard (`tensorboard --logdir FOLDER`) while the run goes on: train/loss, train/learning_rate
// and train/gradient_norm of steps; evaluation/loss and evaluation/<metric>, and evaluation_1/..., evaluation_2/... of
// further evaluating observers; time/training_seconds and time/evaluation_seconds at evaluations. Each run writes a
// file of its own into the folder, and is at most a second behind. In a resumed run, TensorBoard forgets the points
// after the step at which it resumes. Throws Error if the file cannot be written. Not part of algoperf.hpp.
class TensorBoard {
 public:
  static constexpr bool never_stops = true, root_only = true;

  explicit TensorBoard(std::string folder, TensorBoardOptions options = {})
      : folder_(std::move(folder)), options_(options) {
    options_.check();
  }

  template <class Run>
  void begin(Run& run) {
    if (options_.gradient_norm) run.loop().measure_gradient_norm(true);
  }
  template <class Run>
  Control ready(Run& run) {  // after a checkpoint was loaded, if there is one
    file_.emplace(folder_, run.loop().steps() > 0 ? run.loop().steps() + 1 : 0);
    return Control::go_on;
  }
  bool reads_loss(const StepReport& report) const { return report.now.t % options_.every == 0; }
  template <class Run>
  Control after_step(Run&, const StepReport& report) {
    if (report.now.t % options_.every != 0) return Control::go_on;
    if (report.loss) file_->scalar("train/loss", *report.loss, report.now.t);
    file_->scalar("train/learning_rate", report.now.learning_rate, report.now.t);
    if (report.gradient_norm) file_->scalar("train/gradient_norm", *report.gradient_norm, report.now.t);
    flush_after(1);
    return Control::go_on;
  }
  template <class Run>
  Control after_evaluation(Run&, const EvaluationReport& report) {
    const std::string group = report.source == 0 ? "evaluation/" : "evaluation_" + std::to_string(report.source) + "/";
    file_->scalar(group + "loss", report.loss, report.step);
    file_->scalar(group + report.metric_name, report.metric, report.step);
    if (report.source == 0) {
      file_->scalar("time/training_seconds", report.training_seconds, report.step);
      file_->scalar("time/evaluation_seconds", report.evaluation_seconds, report.step);
    }
    flush_after(0);
    return Control::go_on;
  }
  template <class Run>
  void end(Run& run, const RunReport&) {
    if (options_.gradient_norm) run.loop().measure_gradient_norm(false);
    if (file_) file_->flush();
    file_.reset();
  }

 private:
  void flush_after(double seconds) {
    if (unwritten_.seconds() < seconds) return;
    file_->flush();
    unwritten_ = Stopwatch();
  }

  std::string folder_;
  TensorBoardOptions options_;
  std::optional<EventFile> file_;
  Stopwatch unwritten_;  // since the last flush
};

}  // namespace algoperf
