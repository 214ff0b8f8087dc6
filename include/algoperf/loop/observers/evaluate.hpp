#pragma once

#include <cstdint>
#include <utility>

#include "../../core/error.hpp"
#include "../concept.hpp"

namespace algoperf {

struct EvaluateOptions {
  std::uint64_t every = 500;  // steps
  bool first = false;         // also after the first step
  bool last = true;           // also after the last one, unless the run is interrupted
};

// Evaluates a task's validation set with its metric every so many steps, off the training clock.
template <class Data, class Metric>
class Evaluate {
 public:
  template <class Task>
  explicit Evaluate(const Task& task, EvaluateOptions options = {})
      : data_(task.validation()), metric_(task.metric()), options_(options) {
    require(options.every > 0, "Evaluate: every is 0, expected at least 1");
  }

  const Metric& metric() const { return metric_; }
  bool evaluation_due(const StepReport& report) const {
    return report.now.t % options_.every == 0 || (options_.first && report.now.t == 1);
  }
  bool last_evaluation_due(const StepReport& report) const { return options_.last && !evaluation_due(report); }
  template <class Run>
  EvaluationReport evaluate(Run& run) const {
    return run.loop().evaluate(data_, metric_);
  }

 private:
  Data data_;
  Metric metric_;
  EvaluateOptions options_;
};

template <class Task>
Evaluate(const Task&, EvaluateOptions = {})
    -> Evaluate<decltype(std::declval<const Task&>().validation()), decltype(std::declval<const Task&>().metric())>;

}  // namespace algoperf
