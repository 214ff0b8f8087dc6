// Arrivals: the order in which simulated workers finish their steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/random.hpp"
#include "../../state/visit_option.hpp"
#include "worker_speeds.hpp"

namespace algoperf::detail {

// A worker finishes a step, and another one (or the same) begins its next step at the same time.
struct Arrival {
  std::size_t worker = 0, next = 0;
  double time = 0;
};

// `concurrency` workers compute at a time, from time 0 on. A step takes `latency` seconds in addition to those of the
// speeds. When a worker finishes, an idle worker begins: itself, if all workers compute, or else one drawn uniformly.
// Of workers that finish at the same time, the one with the lowest number is first. The order depends only on the
// arguments of the constructor.
class Arrivals {
 public:
  Arrivals() = default;
  Arrivals(const WorkerSpeeds& speeds, std::size_t concurrency, double latency)
      : speeds_(speeds), latency_(latency), finish_(speeds.workers, never), steps_(speeds.workers, 0) {
    for (std::size_t i = 0; i < concurrency; ++i) {
      const std::size_t worker = concurrency == speeds.workers ? i : draw();
      start(worker, 0);
      first_.push_back(worker);
    }
  }

  // Returns the workers that begin at time 0.
  const std::vector<std::size_t>& first() const { return first_; }
  // Returns whether a worker computes.
  bool computes(std::size_t worker) const { return finish_[worker] < never; }

  Arrival next() {
    Arrival arrival;
    for (std::size_t w = 1; w < finish_.size(); ++w)
      if (finish_[w] < finish_[arrival.worker]) arrival.worker = w;
    arrival.time = finish_[arrival.worker];
    finish_[arrival.worker] = never;
    arrival.next = first_.size() == speeds_.workers ? arrival.worker : draw();
    start(arrival.next, arrival.time);
    return arrival;
  }

  template <class Archive>
  void visit(Archive& archive) {
    const auto option = [&](const char* name, double value) { visit_option(archive, "WorkerSpeeds", name, value); };
    option("workers", static_cast<double>(speeds_.workers));
    option("concurrency", static_cast<double>(first_.size()));
    option("seconds", speeds_.seconds);
    option("spread", speeds_.spread);
    option("stragglers", static_cast<double>(speeds_.stragglers));
    option("slowdown", speeds_.slowdown);
    option("seed", static_cast<double>(speeds_.seed));
    option("latency", latency_);
    archive.number("started", started_);
    archive.array("finish", finish_.data(), finish_.size());
    archive.array("steps", steps_.data(), steps_.size());
  }

 private:
  static constexpr double never = __builtin_inf();

  void start(std::size_t worker, double time) {
    finish_[worker] = time + speeds_.step_seconds(worker, steps_[worker]++) + latency_;
    ++started_;
  }
  std::size_t draw() const {
    std::vector<std::size_t> idle;
    for (std::size_t w = 0; w < finish_.size(); ++w)
      if (!computes(w)) idle.push_back(w);
    RandomStream random(RandomKey{speeds_.seed}.fold(speeds_.workers).fold(started_));
    return idle[random.below(static_cast<std::uint32_t>(idle.size()))];
  }

  WorkerSpeeds speeds_;
  double latency_ = 0;
  std::vector<std::size_t> first_;
  std::vector<double> finish_;        // by worker
  std::vector<std::uint64_t> steps_;  // that were started, by worker
  std::uint64_t started_ = 0;         // by all workers
};

}  // namespace algoperf::detail
