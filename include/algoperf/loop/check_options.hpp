// Checks of the options that are passed to a TrainingLoop.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/error.hpp"
#include "../schedules/concept.hpp"
#include "loop_ranks.hpp"

namespace algoperf::detail {

// Throws Error, naming the field, if an option of the loss is invalid.
template <class Loss>
void check_loss(const Loss& loss) {
  if constexpr (requires { loss.check(); }) loss.check();
}

// Throws Error, naming the field, if an option of the rule, the schedule or the selector is invalid.
template <class Rule, class Schedule, class Selector>
ALGOPERF_COLD void check_options(const Rule& rule, const Schedule& schedule, const Selector& selector) {
  rule.check();
  check_schedule(schedule);
  if constexpr (requires { schedule.check(); }) {
    const double first = schedule(0);
    require(first >= 0 && first <= __DBL_MAX__, "TrainingLoop: the learning rate of the first step is ", first,
            ", expected a finite number of at least 0");
  }
  require(selector.batch > 0 && selector.batch <= UINT32_MAX, "TrainingLoop: the selector's batch is ", selector.batch,
          ", expected 1 to ", UINT32_MAX);
}

// The workers of a loop. `options` is a hash of the options of the rule, the schedule and the combiner, if there are
// several ranks.
struct Workers {
  std::size_t per_rank;
  Ranks ranks;
  std::uint64_t options = 0;
};

// Connects this rank to its group. Throws Error if there are no workers, or more than the combiner or the batch allows.
template <class Group, class Rule, class Schedule, class CombinerType>
ALGOPERF_COLD Workers connected_workers(const Group& group, std::size_t batch, const Rule& rule,
                                        const Schedule& schedule, const CombinerType& combiner) {
  require(group.workers >= 1, "TrainingLoop: the worker group has 0 workers, expected at least 1");
  const auto check = [&](std::size_t n) {
    if constexpr (requires { CombinerType::max_workers; })
      require(n <= CombinerType::max_workers, "TrainingLoop: ", n, " workers need a combiner, Mean{} or Adasum<>{}");
    require(n <= batch || batch == 0, "TrainingLoop: the batch is ", batch, " examples for ", n,
            " workers, expected at least one each");
  };
  if constexpr (requires { group.connect(); }) {
    Workers workers{group.workers, Ranks(group.connect())};
    check(workers.per_rank * workers.ranks.size());
    if constexpr (!requires { requires CombinerType::over_ranks; })
      require(workers.ranks.alone(), "TrainingLoop: the combiner does not support a group of ", workers.ranks.size(),
              " ranks; Mean{}, WorkerSum<>{}, Adasum<>{} and LocalSteps{} do");
    workers.options = hash_of(Settings(0, rule, schedule, combiner));
    return workers;
  } else {
    check(group.workers);
    return {group.workers, Ranks()};
  }
}

}  // namespace algoperf::detail
