// The Stage concept. An update rule is a chain of stages. At each step a stage becomes a kernel, which passes apply to
// every parameter.
//
// kernel            static constexpr std::size_t slots;                       values of state per parameter
//                   template <class T> T operator()(T u, T p, Slots<T, slots>& s) const;
//                   u: the update in flight (starts as the gradient), p: the parameter, s: this stage's slots
//                   Optional: scaled(factor) or commuted(factor), which fold a learning rate into its constants, and
//                   applied(u, p, s), which returns the updated parameter in fewer operations (rules/chain/fused.hpp).
// element stage     is a kernel, or has   template <class S> ALGOPERF_HD Kernel<S> at(Step) const;
//                   `at` computes constants in double once per step and casts them once to the scalar S
// measuring stage   static constexpr Over over = Over::tensor or Over::all;
//                   template <class T> Sums<T, N> measure(T u, T p) const;    the terms to sum, per tensor or over all
//                   template <class S> ALGOPERF_HD Kernel<S> at(Step, const Sums<double, N>&, TensorFacts) const;
// matrix stage      template <class Backend> struct State;
//                   state(backend, layout, region) and transform(const MatrixWork<Backend>&, State<Backend>&)
//                   State::visit(archive, backend, layout, region, i) names its state for the region's tensor i;
//                   State::visit(archive) names all of its state
//                   static constexpr std::size_t transform_traffic   reads and writes of u in transform, for describe
//                   static constexpr bool leaves_factors = true   transform may set tensors[i].factors of its argument
//                   (backend/work.hpp) instead of scaling the update of tensor i
// scalars           for a stage that keeps a few scalars per chain besides its slots (a product of rates, a sum of
//                   weights); they are saved with its state, and `at` takes them as its last argument:
//                   struct Scalars { double x = 1;  template <class A> void visit(A&); };   plain data
//                   void advance(Step, Scalars&) const;   called once per step, before `at`
//                   void advance(Step, const Sums<double, N>&, Scalars&) const;   instead, if it measures Over::all
// initial           double initial(std::size_t j) const;   the initial value of slot j, 0 by default
// Any stage may also have:
//   void check() const                                    throws Error if a hyperparameter is out of range
//   static constexpr const char* slot_names[]             the names of its slots in checkpoints
//   static constexpr bool applies_learning_rate = true    it multiplies u by Step::learning_rate; a chain has
//                                                         exactly one such stage
//   static constexpr bool sees_final_update = true        it reads p + u as the updated parameter; it must come last
//   template <class S> Kernel evaluation(Step) const      maps (value, its first slot) to the value for evaluation
//
// rule              what TrainingLoop, partition and the wrappers use; Chain (chain/chain_class.hpp) has all of it:
//                   template <class Backend> using State;   with t(), recount(t), layout() and visit(archive)
//                   state(backend, layout) and state(backend, layout, regions)   a fresh State
//                   step(Update, State&, Step)               updates Update::values; gradients are consumed
//                   check(), group(spec, key)                as in a stage; mixes masks into a tensor's group key
//                   has_evaluation_values, evaluation_values(values, state, out)   averaged parameters, if any
//
// For a type that is none of these, explain_stage (below) produces the compiler's error messages.
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
                  "algoperf: a stage's kernel must be trivially copyable, because it is copied to devices");
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
    static_assert(
        Stage::over == Over::all,
        "algoperf: a stage with Over::tensor cannot have Scalars, because a chain keeps one set for all tensors");
    static_assert(
        AdvancesMeasured<Stage>,
        "algoperf: a measuring stage with Scalars needs `void advance(Step, const Sums<double, N>&, Scalars&) "
        "const`");
  } else {
    static_assert(AdvancesAlone<Stage>, "algoperf: a stage with Scalars needs `void advance(Step, Scalars&) const`");
  }
}

// Reports in a readable sentence what a stage lacks. Every function that composes stages calls it first, so that the
// sentence is the compiler's first error.
template <class Stage>
consteval bool explain_stage() {
  static_assert(!std::is_pointer_v<Stage> && !std::is_arithmetic_v<Stage>,
                "algoperf: chain(...) takes stages such as Adam{} or Descend{}, not a number or a pointer");
  static_assert(!std::is_invocable_v<Stage>, "algoperf: a recipe must be called: write adamw(), not adamw");
  if constexpr (HasScalars<Stage>) {
    static_assert(std::is_trivially_copyable_v<ScalarsOf<Stage>>,
                  "algoperf: a stage's Scalars must be trivially copyable, because they are copied to devices");
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

// The default `evaluate` of Update, for rules that need no second gradient.
struct NoEvaluate {
  void operator()() const {}
};

// The argument of a rule's step: arrays in the backend's memory, and a way to recompute the gradient (for SAM and line
// searches). `evaluate()` fills `gradients` with the gradient at the current `values`, on the same batch. `ports` are
// an alternative source of gradients and destination of parameters (mixed_precision); with ports, `gradients` is not
// read. `guard` may suppress the step (backend/guard.hpp).
template <class Scalar, class Evaluate = NoEvaluate, class Ports = NoPorts, class Guard = NoGuard>
struct Update {
  Scalar* gradients;
  Scalar* values;
  Evaluate evaluate{};
  [[no_unique_address]] Ports ports{};
  [[no_unique_address]] Guard guard{};
};

namespace detail {

// Whether the host can issue a rule's steps to an asynchronous backend without waiting for a result. True if the rule
// respects guards (it declares counts_on_device) and is not a wrapper that changes all parameters at once
// (moves_all_parameters). A rule can override this by declaring defers<Backend>.
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
