// Functions as observers: run(data, [](const StepReport& step) { ... }, UntilStep{1000}).
#pragma once

#include <type_traits>

#include "concept.hpp"

namespace algoperf::detail {

template <class F, class Report>
concept CallableWith = std::is_invocable_v<F&, const Report&>;

// Whether calling F with a Report may stop a run.
template <class F, class Report>
consteval bool may_stop() {
  if constexpr (CallableWith<F, Report>)
    return !std::is_void_v<std::invoke_result_t<F&, const Report&>>;
  else
    return false;
}

// The observer that calls a function after each step, after each evaluation, or both.
template <class F>
struct FunctionObserver final {
  static constexpr bool never_stops = !may_stop<F, StepReport>() && !may_stop<F, EvaluationReport>();
  F& function;

  template <class Run>
  requires CallableWith<F, StepReport> Control after_step(Run&, const StepReport& report)
  const { return call(report); }
  template <class Run>
  requires CallableWith<F, EvaluationReport> Control after_evaluation(Run&, const EvaluationReport& report)
  const { return call(report); }

 private:
  template <class Report>
  Control call(const Report& report) const {
    using Result = std::invoke_result_t<F&, const Report&>;
    static_assert(
        std::is_void_v<Result> || std::is_same_v<Result, Control>,
        "algoperf: a function that observes a run returns nothing, or a Control (Control::go_on to continue)");
    if constexpr (std::is_void_v<Result>) {
      function(report);
      return Control::go_on;
    } else {
      return function(report);
    }
  }
};

// Returns the observer itself, or a FunctionObserver if it is a function.
template <class O>
decltype(auto) observer_of(O& observer) {
  if constexpr (CallableWith<O, StepReport> || CallableWith<O, EvaluationReport>)
    return FunctionObserver<O>{observer};
  else
    return (observer);
}

}  // namespace algoperf::detail
