// What rules/ is about. An update rule is a chain of stages, and a stage becomes a kernel at a step.
//
// kernel            static constexpr std::size_t slots;                       values of state per parameter
//                   template <class T> T operator()(T u, T p, Slots<T, slots>& s) const;
//                   u: the update in flight (starts as the gradient), p: the parameter, s: this stage's slots
//                   May offer scaled(factor) or carrying(factor), so that a learning rate folds into its constants
//                   (rules/fused.hpp).
// element stage     is a kernel, or has   template <class S> Kernel<S> at(Step) const;
//                   (constants are computed in double once a step, and cast once to the scalar S)
// measuring stage   static constexpr Over over = Over::tensor or Over::all;
//                   template <class T> Sums<T, N> measure(T u, T p) const;    summed over a tensor, or over all
//                   template <class S> Kernel<S> at(Step, const Sums<double, N>&, TensorFacts) const;
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
//                   state(backend, layout, region) and transform(backend, step, layout, region, u, p, state)
//                   State::visit(archive, backend, layout, region, i) names what it keeps of the region's tensor i;
//                   State::visit(archive) all it keeps
//                   static constexpr std::size_t moved_scalars    what transform reads and writes of u, for describe
//                   static constexpr bool leaves_factors = true   transform is given the region's tensors, too, and may
//                   set tensors[i].factors (backend/work.hpp) instead of scaling tensor i's u
//
// The sentences a user reads for a stage that is none of these are below, in explain_stage.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "../backend/concept.hpp"
#include "../backend/ports.hpp"
#include "../core/config.hpp"
#include "../core/slots.hpp"
#include "../core/step.hpp"
#include "../core/tensor_facts.hpp"

namespace algoperf {

struct TensorSpec;

// The scope of a measuring stage's sums.
enum class Over { tensor, all };

namespace detail {

template <class K>
concept DeclaresSlots = requires {
  { K::slots } -> std::convertible_to<std::size_t>;
};

template <class K, class T>
concept CallableOn = requires(const K& kernel, T u, Slots<T, K::slots>& s) {
  { kernel(u, u, s) } -> std::same_as<T>;
};

template <class Stage>
concept HasScalars = requires {
  typename Stage::Scalars;
};

struct NoScalars {};
template <class Stage>
struct ScalarsOfStage {
  using Type = NoScalars;
};
template <HasScalars Stage>
struct ScalarsOfStage<Stage> {
  using Type = typename Stage::Scalars;
};
template <class Stage>
using ScalarsOf = typename ScalarsOfStage<Stage>::Type;

template <class Stage>
concept HasInitial = requires(const Stage& stage) {
  { stage.initial(std::size_t{}) } -> std::convertible_to<double>;
};

template <class Stage>
concept HasAt = requires(const Stage& stage) {
  stage.template at<float>(Step{});
};

template <class Stage>
concept HasAtWithScalars = HasScalars<Stage> && requires(const Stage& stage, const ScalarsOf<Stage>& scalars) {
  stage.template at<float>(Step{}, scalars);
};

template <class Stage>
concept HasAtForTensor = requires(const Stage& stage, const TensorSpec& spec, const ScalarsOf<Stage>& scalars) {
  stage.template at<float>(Step{}, spec, scalars);
};

template <class Stage>
concept HasMeasure = requires(const Stage& stage) {
  stage.measure(1.0f, 1.0f);
};

template <class Stage>
concept HasOver = requires {
  { Stage::over } -> std::convertible_to<Over>;
};

template <class Stage>
concept HasTransform = requires {
  typename Stage::template State<Host<float>>;
};

template <class Rule>
concept MovesAllParameters = requires {
  requires Rule::moves_all_parameters;
};

template <class Stage>
concept EndsChain = requires {
  requires Stage::ends_chain;
};

template <class Stage>
concept LeavesFactors = requires {
  requires Stage::leaves_factors;
};

template <class Stage>
concept HasMask = requires(const Stage& stage, const TensorSpec& spec) {
  { stage.includes(spec) } -> std::same_as<bool>;
};

template <class Stage>
concept HasCheck = requires(const Stage& stage) {
  stage.check();
};

template <class Stage, class S = float>
concept HasEvaluation = requires(const Stage& stage) {
  stage.template evaluation<S>(Step{});
};

template <class Stage>
concept ScalesByLearningRate = requires {
  requires Stage::applies_learning_rate;
};

template <class Stage>
concept SeesFinalUpdate = requires {
  requires Stage::sees_final_update;
};

template <class T>
struct SumsSize;
template <class T, std::size_t N>
struct SumsSize<Slots<T, N>> {
  static constexpr std::size_t value = N;
};

// A stage without the masks and schedules around it, whose predicates stay on the host.
template <class Stage>
constexpr auto bare_stage(const Stage& stage) {
  if constexpr (requires { typename Stage::Wrapped; })
    return bare_stage<typename Stage::Wrapped>(stage);
  else
    return stage;
}

template <class Stage>
inline constexpr bool is_measuring = HasMeasure<Stage>&& HasOver<Stage>;
template <class Stage>
inline constexpr bool is_matrix = HasTransform<Stage>;
template <class Stage>
inline constexpr bool is_element = !is_measuring<Stage> && !is_matrix<Stage>;

// How many sums a measuring stage needs; 0 for others.
template <class Stage>
consteval std::size_t sums_of() {
  if constexpr (is_measuring<Stage>)
    return SumsSize<decltype(std::declval<const Stage&>().measure(1.0f, 1.0f))>::value;
  else
    return 0;
}

// The kernel of an element stage at a step, on the tensors of a group that `spec` is one of.
template <class S, class Stage>
auto element_kernel(const Stage& stage, Step step, const TensorSpec& spec, const ScalarsOf<Stage>& scalars) {
  if constexpr (HasAtForTensor<Stage>)
    return stage.template at<S>(step, spec, scalars);
  else if constexpr (HasAtWithScalars<Stage>)
    return stage.template at<S>(step, scalars);
  else if constexpr (HasAt<Stage>)
    return stage.template at<S>(step);
  else
    return stage;
}

template <class Stage>
auto sums_from(const double* terms) {
  Sums<double, sums_of<Stage>()> sums;
  for (std::size_t i = 0; i < sums_of<Stage>(); ++i) sums[i] = terms[i];
  return sums;
}

// The kernel of a measuring stage, its sums known.
template <class S, class Stage>
auto measured_kernel(const Stage& stage, Step step, const Sums<double, sums_of<Stage>()>& sums,
                     const TensorFacts& facts, bool included, const ScalarsOf<Stage>& scalars) {
  if constexpr (HasMask<Stage>)
    return stage.template at<S>(step, sums, facts, included, scalars);
  else if constexpr (HasScalars<Stage>)
    return stage.template at<S>(step, sums, facts, scalars);
  else
    return stage.template at<S>(step, sums, facts);
}

// What a stage becomes over scalar S: called for its type only.
template <class S, class Stage>
auto kernel_of(const Stage& stage, const TensorSpec& spec) {
  if constexpr (is_matrix<Stage>)
    return;
  else if constexpr (is_measuring<Stage>)
    return measured_kernel<S>(stage, Step{}, {}, {}, true, {});
  else
    return element_kernel<S>(stage, Step{}, spec, {});
}

template <class S, class Stage>
using KernelOf = decltype(kernel_of<S>(std::declval<const Stage&>(), std::declval<const TensorSpec&>()));

template <class Stage>
consteval std::size_t slots_of() {
  if constexpr (is_matrix<Stage>)
    return 0;
  else
    return KernelOf<float, Stage>::slots;
}

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
      constexpr bool has_at = HasMask<Stage> || HasScalars<Stage> || requires(const Stage& stage) {
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
// read.
struct NoEvaluate {
  void operator()() const {}
};

template <class Scalar, class Evaluate = NoEvaluate, class Ports = NoPorts>
struct Update {
  Scalar* gradients;
  Scalar* values;
  Evaluate evaluate{};
  [[no_unique_address]] Ports ports{};
};

}  // namespace algoperf
