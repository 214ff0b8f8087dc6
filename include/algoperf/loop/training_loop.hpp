// TrainingLoop: model, loss, rule, schedule and selector, composed into a training run.
//
//   TrainingLoop loop(task.model(), task.loss(), adamw(), WarmupCosine{...}, ShuffledEpochs{.batch = 128});
//   loop.run(task.train(), Evaluate{task, {.every = 500}}, UntilTarget{task.target()}, UntilStep{4000}, ProgressBar{});
//
// Optional arguments after these five roles, in any order: a combiner, a worker group, a backend, a Seed. A run is a
// pure function of its arguments, the data and the number of steps: the same binary on the same machine gives the same
// bits for any number of threads.
#pragma once

#include <type_traits>

#include "../nn/graph/objective.hpp"
#include "check_options.hpp"
#include "explain_loop.hpp"
#include "pick.hpp"
#include "training_loop_base.hpp"

namespace algoperf {

namespace detail {

// The base of a TrainingLoop, after the checks of its roles.
template <class ModelType, class Loss, class Rule, class Schedule, class Selector, class CombinerType, class Backend>
struct LoopBaseOf {
  static_assert(explain_roles<ModelType, Loss, Rule, Schedule, Selector>());
  static_assert(explain_gradient_feedback<Selector, CombinerType>());
  using type = TrainingLoopBase<Rule, Schedule, Selector, CombinerType, Backend>;
};

}  // namespace detail

template <class ModelType, class Loss, class Rule, class Schedule, class Selector, class CombinerType = SingleWorker,
          class Group = InProcess, class BackendType = Host<float>>
class TrainingLoop
    : public detail::LoopBaseOf<ModelType, Loss, Rule, Schedule, Selector, CombinerType, BackendType>::type {
  using Base = typename detail::LoopBaseOf<ModelType, Loss, Rule, Schedule, Selector, CombinerType, BackendType>::type;

 public:
  // Throws Error, naming the field, if an option is invalid.
  template <class... Tail>
  TrainingLoop(const ModelType& model, const Loss& loss, const Rule& rule, const Schedule& schedule,
               const Selector& selector, const Tail&... tail)
      : Base((detail::check_loss(loss), detail::check_options(rule, schedule, selector),
              ModelFunctionRef<BackendType>(Objective<ModelType, Loss>{model, loss})),
             rule, schedule, selector, detail::pick<detail::IsCombiner>(CombinerType{}, tail...),
             detail::connected_workers(detail::pick<detail::IsGroup>(Group{}, tail...), selector.batch, rule, schedule,
                                       detail::pick<detail::IsCombiner>(CombinerType{}, tail...)),
             detail::pick<detail::IsBackend>(BackendType{}, tail...), detail::pick<detail::IsSeed>(Seed{}, tail...)),
        model_(model) {
    static_assert(detail::explain_extras<Tail...>());
  }

  // As in TrainingLoopBase.
  template <class Data, class... Observers>
  RunReport run(const Data& data, Observers&&... observers) {
    static_assert(detail::explain_data<Data>());
    static_assert(detail::explain_labels<Loss, Data>());
    return Base::run(data, observers...);
  }

  const ModelType& model() const { return model_; }
  // Returns the loop without the types of its model and its loss.
  Base& base() { return *this; }

 private:
  ModelType model_;
};

template <class M, class L, class R, class Sch, class Sel, class... Tail>
TrainingLoop(M, L, R, Sch, Sel, Tail...)
    -> TrainingLoop<M, L, R, Sch, Sel, detail::PickType<detail::IsCombiner, SingleWorker, Tail...>,
                    detail::PickType<detail::IsGroup, InProcess, Tail...>,
                    detail::PickType<detail::IsBackend, Host<float>, Tail...>>;
// Fewer than five arguments: the compiler's first error names the missing role.
template <class... Roles>
requires(sizeof...(Roles) >= 1 && sizeof...(Roles) < 5) TrainingLoop(Roles...)
->TrainingLoop<detail::RoleOf<0, Roles...>, detail::RoleOf<1, Roles...>, detail::RoleOf<2, Roles...>,
               detail::RoleOf<3, Roles...>, detail::RoleOf<4, Roles...>>;

}  // namespace algoperf
