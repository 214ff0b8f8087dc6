// Compile-time checks of the arguments of a TrainingLoop, with readable error messages.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../core/tuple.hpp"
#include "../data/fields.hpp"
#include "../nn/concept.hpp"
#include "../nn/graph/objective.hpp"
#include "../nn/graph/recorder.hpp"
#include "../nn/metrics/evaluated_rows.hpp"
#include "../schedules/concept.hpp"
#include "pick.hpp"

namespace algoperf::detail {

template <class T>
concept LossLike = RecordsItself<T, Recorder<>> ||
    requires(const T& loss, const Host<float>& backend, float* x, const LossLabel<T, float>* labels) {
  loss.write(backend, std::size_t{}, std::size_t{}, static_cast<const float*>(x), labels, static_cast<const float*>(x),
             x, x);
};
template <class T>
concept RuleLike = requires {
  typename T::template State<Host<float>>;
};

// Stands for a role that was not passed to a TrainingLoop.
struct Missing {};

// The types of the five roles if fewer than five arguments are passed: Missing takes the place of the role that is not
// there, so that explain_roles names it.
template <class A, class B = Missing, class C = Missing, class D = Missing>
auto with_missing_role() {
  if constexpr (!LossLike<B>)
    return std::type_identity<Tuple<A, Missing, B, C, D>>{};
  else if constexpr (!RuleLike<C>)
    return std::type_identity<Tuple<A, B, Missing, C, D>>{};
  else if constexpr (DataSelector<D>)
    return std::type_identity<Tuple<A, B, C, Missing, D>>{};
  else
    return std::type_identity<Tuple<A, B, C, D, Missing>>{};
}
template <std::size_t Role, class... Given>
using RoleOf = TupleElement<Role, typename decltype(with_missing_role<Given...>())::type>;

// Fails with a readable message if an argument does not fit its role.
template <class ModelType, class Loss, class Rule, class Schedule, class Selector>
consteval bool explain_roles() {
  static_assert(
      requires(const ModelType& model, Recorder<>& net) { Value(model(net)); },
      "algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the first must be a model, e.g. mlp(...)");
  static_assert(
      LossLike<Loss>,
      "algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the second must be a loss, e.g. "
      "SoftmaxCrossEntropy{}; a loss needs write(backend, batch, classes, outputs, labels, weights, losses, d_outputs) "
      "const, a template over the backend and the element type, or operator()(net, outputs) const, which records it");
  static_assert(!std::is_invocable_v<Rule>, "algoperf: a recipe must be called: write adamw(), not adamw");
  static_assert(
      RuleLike<Rule>,
      "algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the third must be a chain(...) or a "
      "recipe such as adamw()");
  explain_schedule<Schedule>();
  static_assert(
      DataSelector<Selector>,
      "algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the fifth must be a data selector, "
      "e.g. ShuffledEpochs{.batch = 128}");
  return true;
}

// Stands for what a data set of fields writes to.
struct AnyTarget {
  template <FieldName name>
  float* at() const;
};

// Fails with a readable message if the data of a run or an evaluation is not a data set.
template <class Data>
consteval bool explain_data() {
  if constexpr (!FieldDataset<Data>) {
    static_assert(
        requires(const Data& data) {
          typename Data::Input;
          data.size();
          data.shape();
        },
        "algoperf: the data must be a data set: InMemory<float>(inputs, labels, shape, classes), the result of a "
        "loader, or a type of your own with Input, size(), shape(), classes() and gather(...) (data/concept.hpp), or "
        "with Fields, size(), shape(field) and gather(...) (data/fields.hpp)");
    static_assert(
        RegressionDataset<Data> || requires(const Data& data) { data.classes(); },
        "algoperf: a data set needs classes(), the number of its classes; or, for real-valued labels, a type Label and "
        "label_shape() (data/concept.hpp)");
    static_assert(
        Dataset<Data>,
        "algoperf: a data set needs gather(const std::uint32_t* indices, std::size_t n, T* inputs, L* labels) const, a "
        "template over T (and, for real-valued labels, L), which copies examples to a batch (data/concept.hpp)");
  } else {
    static_assert(
        requires(const Data& data, const std::uint32_t* indices) { data.gather(indices, std::size_t{}, AnyTarget{}); },
        "algoperf: a data set of fields needs gather(const std::uint32_t* indices, std::size_t n, const To& to) const, "
        "a template over To, which writes to to.at<\"name\">() (data/fields.hpp)");
  }
  return true;
}

// Fails with a readable message if the labels of a Dataset are not of the kind that the loss takes.
template <class Loss, class Data>
consteval bool explain_labels() {
  if constexpr (!FieldDataset<Data> && !Unlabelled<Data> && !RecordsItself<Loss, Recorder<>>)
    static_assert(std::is_integral_v<LossLabel<Loss, float>> == std::is_integral_v<LabelOf<Data>>,
                  "algoperf: the loss does not fit the labels of the data: cross-entropies take class labels, "
                  "MeanSquaredError and BinaryCrossEntropy take real-valued labels (InMemoryRegression)");
  return true;
}

// Stands for the function `predict` that the score() of a metric that generates receives.
struct AnyPredict {
  template <class Data>
  std::vector<float> operator()(const Data&) const;
  template <class Options>
  std::vector<std::vector<std::int32_t>> beam_search(const std::vector<std::vector<std::int32_t>>&,
                                                     const Options&) const;
};

// Fails with a readable message if a metric lacks a member or takes other labels than the data has.
template <class Metric, class Data>
consteval bool explain_metric() {
  static_assert(
      requires {
        { Metric::name } -> std::convertible_to<const char*>;
        { Metric::lower_is_better } -> std::convertible_to<bool>;
      },
      "algoperf: a metric needs two constants, `static constexpr const char* name` and `static constexpr bool "
      "lower_is_better`; e.g. ErrorRate{}");
  static_assert(has_label<Data>(), "algoperf: a metric compares outputs with the data's field \"label\"");
  if constexpr (GeneratingMetric<Metric>)
    static_assert(
        requires(const Metric& metric, const AnyPredict& predict, const Data& data) {
          { metric.score(predict, data) } -> std::convertible_to<double>;
        },
        "algoperf: a metric that generates needs `double score(predict, data) const`, where predict(inputs) returns "
        "the outputs of the model for a data set, row by row");
  else if constexpr (AccumulatingMetric<Metric>)
    static_assert(
        requires(const Metric& metric, typename Metric::State& state,
                 const EvaluatedRows<float, LabelInMemory<Data, float>>& rows) { metric.add(state, rows); },
        "algoperf: a metric with a State needs add(state, rows) const, for EvaluatedRows<S, Label> of the labels of "
        "the "
        "data: std::int32_t for classes, otherwise S (nn/metrics/evaluated_rows.hpp)");
  else
    static_assert(
        requires(const Metric& metric, const Host<float>& backend, float* x, const LabelInMemory<Data, float>* labels) {
          metric.write(backend, std::size_t{}, std::size_t{}, static_cast<const float*>(x), labels, x);
        },
        "algoperf: a metric needs write(backend, batch, classes, outputs, labels, scores) const, a template over the "
        "backend and the element type, that takes the labels of the data (ErrorRate and CrossEntropy: classes; "
        "MeanSquaredError and BinaryCrossEntropy: real values); or a State, add(state, rows) and value(state)");
  return true;
}

template <class Selector>
concept HasGradientFeedback = requires {
  requires Selector::has_gradient_feedback;
};

// Fails with a readable message if the next selection depends on the current step.
template <class Selector>
consteval bool explain_prefetching() {
  static_assert(
      !HasGradientFeedback<Selector> &&
          !requires(const Selector& selector, typename Selector::State& state, const Selection& selection,
                    const std::vector<float>& losses) { selector.feedback(state, selection, losses); },
      "algoperf: prefetched data needs a selector whose selections do not depend on losses or gradients, e.g. "
      "ShuffledEpochs{.batch = 128}");
  return true;
}

template <class CombinerType>
concept MeasuresGradients = requires {
  requires CombinerType::measures_gradients;
};

template <class Selector, class CombinerType>
consteval bool explain_gradient_feedback() {
  static_assert(!HasGradientFeedback<Selector> || MeasuresGradients<CombinerType>,
                "algoperf: this selector chooses its batch by the gradient noise, which a combiner must measure: pass "
                "MeasuredMean{} and InProcess{.workers = 2} or more to the TrainingLoop");
  if constexpr (requires { requires Selector::needs_spread; })
    static_assert(
        requires { requires CombinerType::measures_spread; },
        "algoperf: this selector chooses its batch by the spread of gradients: pass MeasuredExamples{} "
        "(loop/measured_examples.hpp), or MeasuredSpread{} and InProcess{.workers = 2} or more, to the TrainingLoop");
  return true;
}

template <class... Extras>
consteval bool explain_extras() {
  static_assert(
      ((IsCombiner<Extras>::value || IsGroup<Extras>::value || IsBackend<Extras>::value || IsSeed<Extras>::value) &&
       ...),
      "algoperf: after its five roles, a TrainingLoop accepts a combiner, a worker group, a backend or a Seed; pass "
      "observers to run(...)");
  static_assert(count<IsCombiner, Extras...> <= 1,
                "algoperf: a TrainingLoop accepts at most one combiner, but several were passed");
  static_assert(count<IsGroup, Extras...> <= 1,
                "algoperf: a TrainingLoop accepts at most one worker group, but several were passed");
  static_assert(count<IsBackend, Extras...> <= 1,
                "algoperf: a TrainingLoop accepts at most one backend, but several were passed");
  static_assert(count<IsSeed, Extras...> <= 1,
                "algoperf: a TrainingLoop accepts at most one Seed, but several were passed (the selector has its own "
                "seed)");
  return true;
}

}  // namespace algoperf::detail
