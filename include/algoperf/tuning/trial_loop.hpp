// TrialLoop: the training loop of a trial. It does not depend on the types of the workload's model and loss, so the
// workloads of a program share its code.
#pragma once

#include <cstddef>

#include "../backend/host.hpp"
#include "../compiled.hpp"
#include "../loop/check_options.hpp"
#include "../loop/pick.hpp"
#include "../loop/training_loop_base.hpp"

namespace algoperf::detail {

template <class Rule, class Schedule, class Selector, class CombinerType>
class TrialLoop : public TrainingLoopBase<Rule, Schedule, Selector, CombinerType, Host<>> {
  static_assert(explain_gradient_feedback<Selector, CombinerType>());

 public:
  using Base = TrainingLoopBase<Rule, Schedule, Selector, CombinerType, Host<>>;

  // Throws Error, naming the field, if an option is invalid.
  TrialLoop(const ModelFunctionRef<Host<>>& objective, const Rule& rule, const Schedule& schedule,
            const Selector& selector, const CombinerType& combiner, std::size_t workers, unsigned threads, Seed seed)
      : Base((check_options(rule, schedule, selector), objective), rule, schedule, selector, combiner,
             connected_workers(InProcess{workers}, selector.batch, rule, schedule, combiner),
             Host<>{.threads = threads}, seed) {}

  Base& base() { return *this; }
};

}  // namespace algoperf::detail
