#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../core/error.hpp"
#include "../../data/concept.hpp"
#include "../concept.hpp"

namespace algoperf {

struct EvaluateOptions {
  std::uint64_t every = 500;  // steps
  bool first = false;         // also after the first step
  bool last = true;           // also after the last step, unless the run is interrupted
  std::size_t batch = 0;      // examples at a time; 0: as many as one worker has in training
};

// Evaluates a data set with a metric every `every` steps: a task's validation set with the task's metric, or any other
// data set and metric. Evaluation does not count as training time, except for computing averaged parameters.
template <class Data, class Metric>
class Evaluate {
  static_assert(!std::is_same_v<Metric, void>,
                "algoperf: Evaluate(data, metric, options) needs a metric, e.g. ErrorRate{}; Evaluate(task, options) "
                "takes data and metric from a task");

 public:
  template <class Task>
  explicit Evaluate(const Task& task, EvaluateOptions options = {})
      : Evaluate(task.validation(), task.metric(), options) {}
  Evaluate(const Data& data, const Metric& metric, EvaluateOptions options = {})
      : data_(data), metric_(metric), options_(options) {
    require(options.every > 0, "Evaluate: every is 0, expected at least 1");
  }

  const Metric& metric() const { return metric_; }
  bool evaluation_due(const StepReport& report) const {
    return report.now.t % options_.every == 0 || (options_.first && report.now.t == 1);
  }
  bool last_evaluation_due(const StepReport& report) const { return options_.last && !evaluation_due(report); }
  template <class Run>
  EvaluationReport evaluate(Run& run) const {
    return run.loop().evaluate(data_, metric_, options_.batch);
  }

 private:
  Data data_;
  Metric metric_;
  EvaluateOptions options_;
};

// A data set without a metric: the compiler's first error says so.
template <class Data>
requires(!requires(const Data& task) { task.validation(); }) Evaluate(const Data&, EvaluateOptions = {})
->Evaluate<Data, void>;
template <class Task>
requires requires(const Task& task) { task.validation(); }
Evaluate(const Task&, EvaluateOptions = {})
    ->Evaluate<std::remove_cvref_t<decltype(std::declval<const Task&>().validation())>,
               std::remove_cvref_t<decltype(std::declval<const Task&>().metric())>>;

}  // namespace algoperf
