// fuse_measurements(first, second): combines two stages that scale each tensor, so that both measure in one pass
// instead of two. The second stage must measure only p, because u is not yet scaled by the first stage.
//   chain(FactoredRms{}, fuse_measurements(ClipByRms{}, ScaleByParameterRms{}), Descend{})
#pragma once

#include "../chain/scale.hpp"
#include "../concept.hpp"

namespace algoperf {

template <class First, class Second>
struct FusedMeasurements {
  First first;
  Second second;

  static constexpr Over over = First::over;
  static constexpr std::size_t first_sums = detail::sums_of<First>(), second_sums = detail::sums_of<Second>();
  void check() const {
    if constexpr (detail::HasCheck<First>) first.check();
    if constexpr (detail::HasCheck<Second>) second.check();
  }

  template <class T>
  ALGOPERF_HD Sums<T, first_sums + second_sums> measure(T u, T p) const {
    const auto a = first.measure(u, p);
    const auto b = second.measure(u, p);
    Sums<T, first_sums + second_sums> both;
    for (std::size_t i = 0; i < first_sums; ++i) both[i] = a[i];
    for (std::size_t i = 0; i < second_sums; ++i) both[first_sums + i] = b[i];
    return both;
  }
  template <class S>
  ALGOPERF_HD Scale<S> at(Step step, const Sums<double, first_sums + second_sums>& sums, TensorFacts tensor) const {
    const Scale<S> a = first.template at<S>(step, detail::sums_from<First>(&sums[0]), tensor);
    const Scale<S> b = second.template at<S>(step, detail::sums_from<Second>(&sums[first_sums]), tensor);
    return {a.factor * b.factor};
  }
};

namespace detail {

template <class Stage>
concept MeasuresParametersAlone = requires {
  requires Stage::measures_parameters_alone;
};

template <class Stage>
concept ScalesTensors =
    is_measuring<Stage> && !HasMask<Stage> && Stage::over == Over::tensor && requires(const Stage& stage) {
  { stage.template at<float>(Step{}, Sums<double, sums_of<Stage>()>{}, TensorFacts{}) } -> std::same_as<Scale<float>>;
};

template <class First, class Second>
consteval bool explain_fuse_measurements() {
  static_assert(
      ScalesTensors<First> && ScalesTensors<Second>,
      "algoperf: fuse_measurements(first, second) takes two stages that scale each tensor, such as ClipByRms{}");
  static_assert(MeasuresParametersAlone<Second>,
                "algoperf: the second stage of fuse_measurements(...) must measure only p, as "
                "ScaleByParameterRms{} does");
  return ScalesTensors<First> && ScalesTensors<Second> && MeasuresParametersAlone<Second>;
}

}  // namespace detail

template <class First, class Second>
constexpr auto fuse_measurements(const First& first, const Second& second) {
  if constexpr (detail::explain_fuse_measurements<First, Second>())
    return FusedMeasurements<First, Second>{first, second};
}

}  // namespace algoperf
