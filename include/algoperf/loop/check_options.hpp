// Checks of the options that are passed to a TrainingLoop.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/error.hpp"
#include "../schedules/concept.hpp"

namespace algoperf::detail {

// Returns the model. Throws Error, naming the field, if an option of the five roles is invalid.
template <class ModelType, class Loss, class Rule, class Schedule, class Selector>
ALGOPERF_COLD const ModelType& checked_model(const ModelType& model, const Loss& loss, const Rule& rule,
                                             const Schedule& schedule, const Selector& selector) {
  rule.check();
  if constexpr (requires { loss.check(); }) loss.check();
  check_schedule(schedule);
  if constexpr (requires { schedule.check(); }) {
    const double first = schedule(0);
    require(first >= 0 && first <= __DBL_MAX__, "TrainingLoop: the learning rate of the first step is ", first,
            ", expected a finite number of at least 0");
  }
  require(selector.batch > 0 && selector.batch <= UINT32_MAX, "TrainingLoop: the selector's batch is ", selector.batch,
          ", expected 1 to ", UINT32_MAX);
  return model;
}

// Returns the number of workers. Throws Error if there are none, or more than the combiner or the batch allows.
template <class CombinerType, class Group>
ALGOPERF_COLD std::size_t checked_workers(const Group& group, std::size_t batch) {
  const std::size_t n = group.workers;
  require(n >= 1, "TrainingLoop: the worker group has 0 workers, expected at least 1");
  if constexpr (requires { CombinerType::max_workers; })
    require(n <= CombinerType::max_workers, "TrainingLoop: ", n, " workers need a combiner, Mean{} or Adasum<>{}");
  require(n <= batch || batch == 0, "TrainingLoop: the batch is ", batch, " examples for ", n,
          " workers, expected at least one each");
  return n;
}

}  // namespace algoperf::detail
