#pragma once

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>

#include "../../core/error.hpp"
#include "../concept.hpp"
#include "../stop_signals.hpp"

namespace algoperf {

struct CheckpointOptions {
  std::uint64_t every = 1000;  // steps
  bool resume = true;          // continue from the file if it exists
};

// Saves the run every `every` steps and at its end, unless the run threw. Ctrl-C (SIGINT) or SIGTERM ends the run as
// interrupted; a second signal terminates the process as usual. A run resumed from a checkpoint gives the same bits as
// an uninterrupted one.
class Checkpoints {
 public:
  explicit Checkpoints(std::string path, CheckpointOptions options = {}) : path_(std::move(path)), options_(options) {
    require(options.every > 0, "Checkpoints: every is 0, expected at least 1");
  }

  template <class Run>
  void begin(Run& run) {
    if (options_.resume && access(path_.c_str(), F_OK) == 0) run.load(path_);
    signals_.emplace();
  }
  static bool reads_loss(const StepReport&) { return false; }  // saving waits for the loss if needed
  template <class Run>
  Control after_step(Run& run, const StepReport& report) const {
    if (report.now.t % options_.every == 0) run.save(path_);
    return StopSignals::heard() ? Control::interrupted : Control::go_on;
  }
  template <class Run>
  void end(Run& run, const RunReport& report) {
    const Release after{signals_};
    if (report.reason != Control::go_on && report.reason != Control::diverged) run.save(path_);
  }

 private:
  struct Release {
    std::optional<StopSignals>& signals;
    ~Release() { signals.reset(); }
  };

  std::string path_;
  CheckpointOptions options_;
  std::optional<StopSignals> signals_;
};

}  // namespace algoperf
