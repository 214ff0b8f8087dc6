#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "../../core/error.hpp"
#include "../../state/atomic_file.hpp"
#include "../concept.hpp"
#include "../stop_signals.hpp"

namespace algoperf {

// Whether a run continues from a checkpoint that exists.
enum class Resume : std::uint8_t {
  never,             // starts anew and overwrites the file
  if_same_settings,  // throws Error if the file's run had another seed, schedule, or options of rule or combiner
  any,               // continues with the settings of this run, e.g. with a lower learning rate
};

struct CheckpointOptions {
  std::uint64_t every = 1000;  // steps
  Resume resume = Resume::if_same_settings;
  bool announce = true;  // writes "FILE: resumed at step N" to standard error
};

// Saves the run every `every` steps and at its end, unless the run threw. Of several ranks, rank 0 writes the file, and
// all read it. Ctrl-C (SIGINT) or SIGTERM ends the run as
// interrupted; a second signal terminates the process as usual. A run resumed from a checkpoint gives the same bits as
// an uninterrupted one. If a file cannot be written, begin throws Error before the first step; a failure later, e.g. of
// a full disk, becomes a warning and a failed save in the report, and the run goes on; the save at the end throws
// Error.
class Checkpoints {
 public:
  explicit Checkpoints(std::string path, CheckpointOptions options = {}) : path_(std::move(path)), options_(options) {
    require(options.every > 0, "Checkpoints: every is 0, expected at least 1");
  }

  template <class Run>
  void begin(Run& run) {
    if (run.is_root()) AtomicFile probe(path_);
    if (options_.resume != Resume::never && access(path_.c_str(), F_OK) == 0) {
      run.load(path_, options_.resume == Resume::any);
      if (options_.announce && run.is_root())
        std::fprintf(stderr, "%s: resumed at step %llu\n", path_.c_str(),
                     static_cast<unsigned long long>(run.loop().steps()));
    }
    signals_.emplace();
  }
  static bool reads_loss(const StepReport&) { return false; }  // saving waits for the loss if needed
  template <class Run>
  Control after_step(Run& run, const StepReport& report) const {
    if (report.now.t % options_.every == 0) run.save_or_warn(path_);
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
