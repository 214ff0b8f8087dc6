// The conversion of stages to kernels. At a step, an element stage becomes its kernel. A measuring stage becomes a
// Measured, which becomes a kernel when its sums are available, on the host or on a device.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "masked_kernel.hpp"
#include "stage_traits.hpp"

namespace algoperf::detail {

// element_kernel returns the kernel of an element stage without a mask. scheduled_kernel is separate because a schedule
// may be a host-only function, so that scheduled stages need ALGOPERF_NO_EXEC_CHECK.
ALGOPERF_NO_EXEC_CHECK
template <class S, class Stage>
ALGOPERF_HD auto scheduled_kernel(const Stage& stage, Step step, const ScalarsOf<Stage>& scalars) {
  if constexpr (HasScalars<Stage>)
    return stage.template at<S>(step, scalars);
  else
    return stage.template at<S>(step);
}
template <class S, class Stage>
ALGOPERF_HD auto element_kernel(const Stage& stage, Step step, const ScalarsOf<Stage>& scalars) {
  if constexpr (Wraps<Stage>)
    return scheduled_kernel<S>(stage, step, scalars);
  else if constexpr (HasAtWithScalars<Stage>)
    return stage.template at<S>(step, scalars);
  else if constexpr (HasAt<Stage>)
    return stage.template at<S>(step);
  else
    return stage;
}

// Returns a stage without the masks around it.
template <class Stage>
auto unmasked(const Stage& stage) {
  if constexpr (HasMask<Stage>)
    return unmasked(static_cast<const typename Stage::Wrapped&>(stage));
  else
    return stage;
}

// Returns a stage with its scheduled fields set to their values at `step`.
ALGOPERF_NO_EXEC_CHECK
template <class Stage>
ALGOPERF_HD auto unscheduled(const Stage& stage, Step step) {
  if constexpr (Wraps<Stage>)
    return unscheduled(stage.now(step), step);
  else
    return stage;
}

template <class Stage>
ALGOPERF_HD auto sums_from(const double* terms) {
  Sums<double, sums_of<Stage>()> sums;
  for (std::size_t i = 0; i < sums_of<Stage>(); ++i) sums[i] = terms[i];
  return sums;
}

// A measuring stage at one step, without masks and schedules: `stage` measures, and operator() returns the kernel for
// the resulting sums. `included` is false if a mask excludes the tensors of the group.
template <class S, class Stage, bool masked>
struct Measured {
  Stage stage;
  Step step;
  ScalarsOf<Stage> scalars;
  bool included;

  ALGOPERF_HD auto operator()(const double* terms, const TensorFacts& facts) const {
    const auto kernel = opened(terms, facts);
    if constexpr (masked)
      return MaskedKernel<std::remove_const_t<decltype(kernel)>>{kernel, included};
    else
      return kernel;
  }

 private:
  ALGOPERF_HD auto opened(const double* terms, const TensorFacts& facts) const {
    if constexpr (HasScalars<Stage>)
      return stage.template at<S>(step, sums_from<Stage>(terms), facts, scalars);
    else
      return stage.template at<S>(step, sums_from<Stage>(terms), facts);
  }
};

struct NoKernel {};

// A stage, placed on the tensors of one group; `included` is false if a mask excludes them. Holds everything needed to
// build the stage's kernel for any step, on host or device. Empty for a matrix stage.
template <class Stage>
struct Placed {
  decltype(unmasked(std::declval<const Stage&>())) stage;
  ScalarsOf<Stage> scalars;
  bool included;

  template <class S>
  ALGOPERF_HD auto at(Step step) const {
    if constexpr (is_measuring<Stage>) {
      const auto plain = unscheduled(stage, step);
      return Measured<S, std::remove_const_t<decltype(plain)>, HasMask<Stage>>{plain, step, scalars, included};
    } else {
      const auto kernel = element_kernel<S>(stage, step, scalars);
      if constexpr (HasMask<Stage>)
        return MaskedKernel<std::remove_const_t<decltype(kernel)>>{kernel, included};
      else
        return kernel;
    }
  }
};
template <class Stage>
requires is_matrix<Stage>
struct Placed<Stage> {
  template <class S>
  ALGOPERF_HD NoKernel at(Step) const {
    return {};
  }
};

// Whether a stage acts on the group of tensors to which `spec` belongs.
template <class Stage>
bool includes(const Stage& stage, const TensorSpec& spec) {
  if constexpr (HasMask<Stage>)
    return stage.includes(spec);
  else
    return true;
}

template <class Stage>
Placed<Stage> placed(const Stage& stage, const TensorSpec& spec, const ScalarsOf<Stage>& scalars) {
  if constexpr (is_matrix<Stage>)
    return {};
  else
    return {unmasked(stage), scalars, includes(stage, spec)};
}

// Returns the kernel of a stage over scalar S, void for a matrix stage. Used only for its return type.
template <class S, class Stage>
auto kernel_of(const Placed<Stage>& stage) {
  if constexpr (is_matrix<Stage>)
    return;
  else if constexpr (is_measuring<Stage>)
    return stage.template at<S>(Step{})(nullptr, TensorFacts{});
  else
    return stage.template at<S>(Step{});
}

template <class S, class Stage>
using KernelOf = decltype(kernel_of<S>(std::declval<const Placed<Stage>&>()));

// Whether a device can build a stage's kernel from its Placed and a Step alone.
template <class Stage>
inline constexpr bool counts_on_device =
    !HasScalars<Stage> && !Wraps<decltype(unmasked(std::declval<const Stage&>()))> &&
    (!is_matrix<Stage> || EndsChain<Stage>)&&std::is_trivially_copyable_v<Placed<Stage>>;

template <class Stage>
consteval std::size_t slots_of() {
  if constexpr (is_matrix<Stage>)
    return 0;
  else
    return KernelOf<float, Stage>::slots;
}

}  // namespace algoperf::detail
