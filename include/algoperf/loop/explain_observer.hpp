// Compile-time checks of an observer, with readable error messages. Without them, a member with a known name but
// another signature would silently never be called.
#pragma once

#include <type_traits>

#include "checkpoint.hpp"
#include "concept.hpp"

namespace algoperf::detail {

// Names_x<O>: whether class O has a member x of any kind. If so, x is ambiguous in a class derived from both O and
// another class with a member x.
#define ALGOPERF_NAMES(x)             \
  struct Has_##x {                    \
    int x;                            \
  };                                  \
  template <class O>                  \
  struct Either_##x : O, Has_##x {};  \
  template <class O>                  \
  concept Ambiguous_##x = !requires { \
    &Either_##x<O>::x;                \
  };                                  \
  template <class O>                  \
  concept Names_##x = std::is_class_v<O> && !std::is_final_v<O> && Ambiguous_##x<O>;

ALGOPERF_NAMES(begin)
ALGOPERF_NAMES(ready)
ALGOPERF_NAMES(evaluation_due)
ALGOPERF_NAMES(last_evaluation_due)
ALGOPERF_NAMES(evaluate)
ALGOPERF_NAMES(after_evaluation)
ALGOPERF_NAMES(after_step)
ALGOPERF_NAMES(reads_loss)
ALGOPERF_NAMES(end)
ALGOPERF_NAMES(visit)
#undef ALGOPERF_NAMES

template <class O>
concept HasVisit = requires(O& o, CheckpointWriter& writer, CheckpointReader& reader) {
  o.visit(writer);
  o.visit(reader);
};

// Fails with a readable message if observer type O, which is const if the observer is, has a wrong member.
template <class O, class Run>
consteval bool explain_observer() {
  using Plain = std::remove_const_t<O>;
  static_assert(!Names_begin<Plain> || HasBegin<O, Run>,
                "algoperf: an observer's begin must be `begin(run)`, and const if the observer is");
  static_assert(!Names_ready<Plain> || HasReady<O, Run>,
                "algoperf: an observer's ready must be `Control ready(run)`, and const if the observer is");
  static_assert(!Names_evaluation_due<Plain> || HasEvaluationDue<O>,
                "algoperf: an observer's evaluation_due must be `bool evaluation_due(const StepReport&)`, and const if "
                "the observer is");
  static_assert(!Names_last_evaluation_due<Plain> || HasLastEvaluationDue<O>,
                "algoperf: an observer's last_evaluation_due must be `bool last_evaluation_due(const StepReport&)`, "
                "and const if the observer is");
  static_assert(!Names_evaluate<Plain> || HasEvaluate<O, Run>,
                "algoperf: an observer's evaluate must be `EvaluationReport evaluate(run)`, and const if the observer "
                "is");
  static_assert(HasEvaluationDue<O> == HasEvaluate<O, Run>,
                "algoperf: an observer that evaluates needs both `bool evaluation_due(const StepReport&)` and "
                "`EvaluationReport evaluate(run)`");
  static_assert(!IsRootOnly<O> || !HasEvaluate<O, Run>,
                "algoperf: an observer that evaluates cannot be root_only, because all ranks evaluate together");
  static_assert(!Names_after_evaluation<Plain> || HasAfterEvaluation<O, Run>,
                "algoperf: an observer's after_evaluation must be `Control after_evaluation(run, const "
                "EvaluationReport&)`, and const if the observer is");
  static_assert(!Names_after_step<Plain> || HasAfterStep<O, Run>,
                "algoperf: an observer's after_step must be `Control after_step(run, const StepReport&)`, and const if "
                "the observer is");
  static_assert(!Names_reads_loss<Plain> || HasReadsLoss<O>,
                "algoperf: an observer's reads_loss must be `bool reads_loss(const StepReport&)`, and const if the "
                "observer is");
  static_assert(!Names_end<Plain> || HasEnd<O, Run>,
                "algoperf: an observer's end must be `end(run, const RunReport&)`, and const if the observer is");
  static_assert(!Names_visit<Plain> || HasVisit<O>,
                "algoperf: an observer's visit must be `template <class Archive> void visit(Archive&)`, and const if "
                "the observer is");
  static_assert(
      !HasVisit<O> || requires { Plain::name; },
      "algoperf: an observer with visit(archive) needs `static constexpr const char* name`, which names its "
      "section in a checkpoint");
  static_assert(
      HasBegin<O, Run> || HasReady<O, Run> || HasEvaluate<O, Run> || HasAfterEvaluation<O, Run> ||
          HasAfterStep<O, Run> || HasEnd<O, Run>,
      "algoperf: an observer needs at least one of begin(run), `Control ready(run)`, `Control after_step(run, const "
      "StepReport&)`, `Control after_evaluation(run, const EvaluationReport&)`, end(run, const RunReport&), "
      "or evaluation_due and evaluate; or it is a function of a const StepReport& or a const EvaluationReport& that "
      "returns nothing or a Control");
  return true;
}

}  // namespace algoperf::detail
