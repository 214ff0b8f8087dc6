#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "../../core/error.hpp"
#include "../concept.hpp"

namespace algoperf {

struct CheckpointOptions {
  std::uint64_t every = 1000;  // steps
  bool resume = true;          // continue from the file if it is there
};

// Saves the run every so many steps, and at Ctrl-C (SIGINT) or SIGTERM, after which the run stops as interrupted; a
// second signal kills as usual. A run resumed from a checkpoint gives the same bits as one never stopped.
class Checkpoints {
 public:
  explicit Checkpoints(std::string path, CheckpointOptions options = {}) : path_(std::move(path)), options_(options) {
    require(options.every > 0, "Checkpoints: every is 0, expected at least 1");
  }

  template <class Run>
  void begin(Run& run) {
    if (options_.resume && access(path_.c_str(), F_OK) == 0) run.load(path_);
    signalled_ = 0;
    listen(SIGINT, before_int_);
    listen(SIGTERM, before_term_);
    listening_ = true;
  }
  template <class Run>
  Control after_step(Run& run, const StepReport& report) {
    const bool stop = signalled_ != 0;
    if (stop || report.now.t % options_.every == 0) run.save(path_);
    return stop ? Control::interrupted : Control::go_on;
  }
  template <class Run>
  void end(Run&, const RunReport&) {
    if (!listening_) return;
    sigaction(SIGINT, &before_int_, nullptr);
    sigaction(SIGTERM, &before_term_, nullptr);
    listening_ = false;
  }

 private:
  static void listen(int signal, struct sigaction& before) {
    struct sigaction action {};
    action.sa_handler = [](int) { signalled_ = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, &before);
  }
  static inline volatile sig_atomic_t signalled_ = 0;

  std::string path_;
  CheckpointOptions options_;
  struct sigaction before_int_ {
  }, before_term_{};
  bool listening_ = false;
};

}  // namespace algoperf
