// WorkerClock: which of the simulated workers finishes its step next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "worker_speeds.hpp"

namespace algoperf::detail {

// All workers start at time 0. Of workers that finish at the same time, the one with the lowest number is first.
class WorkerClock {
 public:
  WorkerClock() = default;
  explicit WorkerClock(const WorkerSpeeds& speeds) : speeds_(speeds), finish_(speeds.workers), steps_(speeds.workers) {}

  // Starts a step of a worker at a time.
  void start(std::size_t worker, double time) {
    finish_[worker] = time + speeds_.step_seconds(worker, steps_[worker]++);
  }
  // Stops a worker, which finishes no step until it is started.
  void stop(std::size_t worker) { finish_[worker] = __builtin_inf(); }
  bool works(std::size_t worker) const { return finish_[worker] < __builtin_inf(); }
  std::size_t size() const { return finish_.size(); }
  double finish(std::size_t worker) const { return finish_[worker]; }
  // Returns the worker that finishes first.
  std::size_t next() const {
    std::size_t first = 0;
    for (std::size_t w = 1; w < finish_.size(); ++w)
      if (finish_[w] < finish_[first]) first = w;
    return first;
  }

  template <class Archive>
  void visit(Archive& archive) {
    archive.array("finish", finish_.data(), finish_.size());
    archive.array("steps", steps_.data(), steps_.size());
  }

 private:
  WorkerSpeeds speeds_;
  std::vector<double> finish_;        // by worker
  std::vector<std::uint64_t> steps_;  // that were started, by worker
};

}  // namespace algoperf::detail
