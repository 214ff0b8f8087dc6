// Traits that classify a stage and detect its members. rules/concept.hpp documents the members.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "../../backend/concept.hpp"
#include "../../core/config.hpp"
#include "../../core/slots.hpp"
#include "../../core/step.hpp"
#include "../../core/tensor_facts.hpp"

namespace algoperf {

struct TensorSpec;

// The argument of a matrix stage's transform (rules/matrix/matrix_work.hpp).
template <class Backend>
struct MatrixWork;

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

// A stage that wraps another: masked or scheduled.
template <class Stage>
concept Wraps = requires {
  typename Stage::Wrapped;
};

template <class Stage>
inline constexpr bool is_measuring = HasMeasure<Stage>&& HasOver<Stage>;
template <class Stage>
inline constexpr bool is_matrix = HasTransform<Stage>;
template <class Stage>
inline constexpr bool is_element = !is_measuring<Stage> && !is_matrix<Stage>;

// Returns the number of sums of a measuring stage, 0 for other stages.
template <class Stage>
consteval std::size_t sums_of() {
  if constexpr (is_measuring<Stage>)
    return SumsSize<decltype(std::declval<const Stage&>().measure(1.0f, 1.0f))>::value;
  else
    return 0;
}

}  // namespace detail
}  // namespace algoperf
