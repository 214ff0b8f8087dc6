// What rules/ is about. An update rule is a chain of stages, and a stage becomes a kernel at a step.
//
// kernel            static constexpr std::size_t slots;                       values of state per parameter
//                   template <class T> T operator()(T u, T p, Slots<T, slots>& s) const;
//                   u: the update in flight (starts as the gradient), p: the parameter, s: this stage's slots
//                   May offer scaled(factor) or commuted(factor), so that a learning rate folds into its constants,
//                   and applied(u, p, s), which applies the update in fewer operations (rules/chain/fused.hpp).
// element stage     is a kernel, or has   template <class S> ALGOPERF_HD Kernel<S> at(Step) const;
//                   (constants are computed in double once a step, and cast once to the scalar S)
// measuring stage   static constexpr Over over = Over::tensor or Over::all;
//                   template <class T> Sums<T, N> measure(T u, T p) const;    summed over a tensor, or over all
//                   template <class S> ALGOPERF_HD Kernel<S> at(Step, const Sums<double, N>&, TensorFacts) const;
// scalars           a stage that keeps a few numbers a chain, beside its slots (a product of rates, a sum of weights):
//                   struct Scalars { double x = 1;  template <class A> void visit(A&); };   plain data, saved with it
//                   void advance(Step, Scalars&) const;   once a step, before `at` is asked with one argument more
//                   void advance(Step, const Sums<double, N>&, Scalars&) const;   of a stage that measures Over::all
// initial           double initial(std::size_t j) const;   what slot j holds before the first step, if not 0
// Any stage may also have:
//   void check() const                                    throws Error for an impossible hyperparameter
//   static constexpr const char* slot_names[]             what its slots are called in checkpoints
//   static constexpr bool applies_learning_rate = true    it scales by Step::learning_rate; one stage of a chain does
//   static constexpr bool sees_final_update = true        it reads p + u as the parameters to come: it must stand last
//   template <class S> Kernel evaluation(Step) const      (value, its first slot) -> the value to evaluate with
// matrix stage      template <class Backend> struct State;
//                   state(backend, layout, region) and transform(const MatrixWork<Backend>&, State<Backend>&)
//                   State::visit(archive, backend, layout, region, i) names what it keeps of the region's tensor i;
//                   State::visit(archive) all it keeps
//                   static constexpr std::size_t transform_traffic   reads and writes of u in transform, for describe
//                   static constexpr bool leaves_factors = true   transform may set tensors[i].factors of its argument
//                   (backend/work.hpp) instead of scaling the update of tensor i
//
// The sentences a user reads for a stage that is none of these are below, in explain_stage.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../backend/guard.hpp"
#include "../backend/ports.hpp"
#include "chain/stage_kernels.hpp"

namespace algoperf {

namespace detail {

template <class K>
consteval bool explain_kernel() {
  static_assert(DeclaresSlots<K>, "algoperf: a stage's kernel needs `static constexpr std::size_t slots`");
  if constexpr (DeclaresSlots<K>) {
    static_assert(
        CallableOn<K, float>,
        "algoperf: a stage's kernel needs `template <class T> T operator()(T u, T p, Slots<T, slots>& s) const`");
    static_assert(std::is_trivially_copyable_v<K>,
                  "algoperf: a stage's kernel must be trivially copyable, for it travels to devices");
  }
  return true;
}

template <class Stage>
concept AdvancesAlone = requires(const Stage& stage, ScalarsOf<Stage>& scalars) {
  stage.advance(Step{}, scalars);
};

template <class Stage>
concept AdvancesMeasured = requires(const Stage& stage, ScalarsOf<Stage>& scalars) {
  stage.advance(Step{}, Sums<double, sums_of<Stage>()>{}, scalars);
};

template <class Stage>
consteval void explain_scalars() {
  if constexpr (is_measuring<Stage>) {
    static_assert(Stage::over == Over::all,
                  "algoperf: a stage that measures each tensor cannot keep Scalars, which are one set a chain");
    static_assert(
        AdvancesMeasured<Stage>,
        "algoperf: a measuring stage with Scalars needs `void advance(Step, const Sums<double, N>&, Scalars&) "
        "const`");
  } else {
    static_assert(AdvancesAlone<Stage>, "algoperf: a stage with Scalars needs `void advance(Step, Scalars&) const`");
  }
}

// Says in a sentence what a stage lacks. Called first by everything that composes, so that the sentence is the first
// line of the compiler's errors.
template <class Stage>
consteval bool explain_stage() {
  static_assert(!std::is_pointer_v<Stage> && !std::is_arithmetic_v<Stage>,
                "algoperf: chain(...) takes stages such as Adam{} or Descend{}, not a number or a pointer");
  if constexpr (HasScalars<Stage>) {
    static_assert(std::is_trivially_copyable_v<ScalarsOf<Stage>>,
                  "algoperf: a stage's Scalars must be plain numbers, for they are saved and travel to devices");
    explain_scalars<Stage>();
  }
  if constexpr (std::is_class_v<Stage> && !is_matrix<Stage>) {
    static_assert(!HasMeasure<Stage> || HasOver<Stage>,
                  "algoperf: a stage with measure(u, p) needs `static constexpr Over over`, the scope of its sums");
    static_assert(!HasOver<Stage> || HasMeasure<Stage>,
                  "algoperf: a stage with `over` needs `template <class T> Sums<T, N> measure(T u, T p) const`");
    if constexpr (is_measuring<Stage>) {
      constexpr bool has_at = Wraps<Stage> || HasScalars<Stage> || requires(const Stage& stage) {
        stage.template at<float>(Step{}, Sums<double, sums_of<Stage>()>{}, TensorFacts{});
      };
      static_assert(has_at,
                    "algoperf: a measuring stage needs `template <class S> Kernel<S> at(Step, const Sums<double, N>&, "
                    "TensorFacts) const`");
      if constexpr (has_at) explain_kernel<KernelOf<float, Stage>>();
    } else {
      explain_kernel<KernelOf<float, Stage>>();
    }
  }
  return true;
}

}  // namespace detail

// A stage of a chain: an element, measuring or matrix stage.
template <class S>
concept Stage = detail::is_matrix<S> ||
    (detail::is_measuring<S> || detail::CallableOn<detail::KernelOf<float, S>, float>);

// What a rule is given to update: memory of the backend, and a way to ask for the gradient anew (SAM, line searches).
// `evaluate()` fills `gradients` with the gradient at the present `values`, of the same batch.
// `ports` are other places to take gradients from and put parameters to (mixed_precision); then `gradients` is not
// read. `guard` may keep the step from being made (backend/guard.hpp).
struct NoEvaluate {
  void operator()() const {}
};

template <class Scalar, class Evaluate = NoEvaluate, class Ports = NoPorts, class Guard = NoGuard>
struct Update {
  Scalar* gradients;
  Scalar* values;
  Evaluate evaluate{};
  [[no_unique_address]] Ports ports{};
  [[no_unique_address]] Guard guard{};
};

namespace detail {

// Whether a rule's step can be asked of an asynchronous backend without waiting for a number: it heeds guards, and
// leaves the parameters where they are till its end, or says so itself.
template <class Rule, class Backend>
consteval bool defers_on() {
  if constexpr (requires { Rule::template defers<Backend>; })
    return Rule::template defers<Backend>;
  else
    return requires { Rule::counts_on_device; }
  &&!MovesAllParameters<Rule>;
}

}  // namespace detail

}  // namespace algoperf
