// Says in sentences what a TrainingLoop was not given.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "../data/concept.hpp"
#include "../nn/concept.hpp"
#include "../schedules/concept.hpp"
#include "pick.hpp"

namespace algoperf::detail {

// Says in a sentence which of the five roles is not played.
template <class ModelType, class Loss, class Rule, class Schedule, class Selector>
consteval bool explain_roles() {
  static_assert(
      requires(const ModelType& model) {
        typename ModelType::Handles;
        model.input();
        model.output();
      },
      "algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the first is a model, e.g. mlp(...)");
  static_assert(
      requires(const Loss& loss, const Host<float>& backend, float* x, const LossLabel<Loss, float>* labels) {
        loss.write(backend, std::size_t{}, std::size_t{}, static_cast<const float*>(x), labels,
                   static_cast<const float*>(x), x, x);
      },
      "algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the second is a loss, e.g. "
      "SoftmaxCrossEntropy{}; a loss has write(backend, batch, classes, outputs, labels, weights, losses, d_outputs) "
      "const, a template over the backend and the element type");
  static_assert(
      requires { typename Rule::template State<Host<float>>; },
      "algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the third is a chain(...) or a recipe "
      "such as adamw()");
  explain_schedule<Schedule>();
  static_assert(DataSelector<Selector>,
                "algoperf: TrainingLoop takes (model, loss, rule, schedule, selector): the fifth is a data selector, "
                "e.g. ShuffledEpochs{.batch = 128}");
  return true;
}

// Says in a sentence what a metric lacks, or that it reads other labels than the loss.
template <class Metric, class Loss>
consteval bool explain_metric() {
  static_assert(
      requires {
        { Metric::name } -> std::convertible_to<const char*>;
        { Metric::lower_is_better } -> std::convertible_to<bool>;
      },
      "algoperf: a metric has two constants, `static constexpr const char* name` and `static constexpr bool "
      "lower_is_better`; e.g. ErrorRate{}");
  static_assert(
      requires(const Metric& metric, const Host<float>& backend, float* x, const LossLabel<Loss, float>* labels) {
        metric.write(backend, std::size_t{}, std::size_t{}, static_cast<const float*>(x), labels, x);
      },
      "algoperf: a metric has write(backend, batch, classes, outputs, labels, scores) const, a template over the "
      "backend and the element type, of labels as the loss takes them (ErrorRate and CrossEntropy: classes; "
      "MeanSquaredError and BinaryCrossEntropy: numbers)");
  return true;
}

template <class Selector>
concept HasGradientFeedback = requires {
  requires Selector::has_gradient_feedback;
};

template <class CombinerType>
concept MeasuresGradients = requires {
  requires CombinerType::measures_gradients;
};

template <class Selector, class CombinerType>
consteval bool explain_gradient_feedback() {
  static_assert(!HasGradientFeedback<Selector> || MeasuresGradients<CombinerType>,
                "algoperf: this selector's batch follows the noise of gradients, which a combiner measures: give the "
                "TrainingLoop a MeasuredMean{} and InProcess{.workers = 2} or more");
  return true;
}

template <class... Extras>
consteval bool explain_extras() {
  static_assert(
      ((IsCombiner<Extras>::value || IsGroup<Extras>::value || IsBackend<Extras>::value || IsSeed<Extras>::value) &&
       ...),
      "algoperf: after its five roles a TrainingLoop takes a combiner, a worker group, a backend or a Seed; observers "
      "go to run(...)");
  static_assert(count<IsCombiner, Extras...> <= 1, "algoperf: a TrainingLoop takes one combiner, and here are more");
  static_assert(count<IsGroup, Extras...> <= 1, "algoperf: a TrainingLoop takes one worker group, and here are more");
  static_assert(count<IsBackend, Extras...> <= 1, "algoperf: a TrainingLoop takes one backend, and here are more");
  static_assert(count<IsSeed, Extras...> <= 1,
                "algoperf: a TrainingLoop takes one Seed, and here are more (the selector has a seed of its own)");
  return true;
}

}  // namespace algoperf::detail
