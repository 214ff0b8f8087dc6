// The time of a training step on a device, in a run that never waits for the loss.
#pragma once

#include <algoperf/algoperf.hpp>
#include <algoperf/backend/cuda.cuh>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lines.hpp"

namespace bench {

// An observer that records the time at the end of every `every`-th step.
class Stamps {
 public:
  Stamps(std::uint64_t every, std::vector<double>& times) : every_(every), times_(&times) {}
  bool reads_loss(const algoperf::StepReport&) const { return false; }
  template <class Run>
  algoperf::Control after_step(const Run&, const algoperf::StepReport& report) {
    if (report.now.t % every_ == 0) {
      algoperf::Cuda{}.synchronize();
      times_->push_back(now());
    }
    return algoperf::Control::go_on;
  }

 private:
  std::uint64_t every_;
  std::vector<double>* times_;
};

// Returns the seconds of a step: the median over ten intervals of `every` steps, after two for warm-up and recording.
template <class Loop, class Data>
double training_seconds(Loop& loop, const Data& data, std::uint64_t every) {
  std::vector<double> times;
  loop.run(data, Stamps(every, times), algoperf::UntilStep{12 * every});
  std::vector<double> steps;
  for (std::size_t i = 2; i < times.size(); ++i)
    steps.push_back((times[i] - times[i - 1]) / static_cast<double>(every));
  return median(steps);
}

}  // namespace bench
