// What a stage becomes at a step: an element stage its kernel; a measuring stage a Measured, which becomes a kernel
// wherever its sums are known, on a device too.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "masked_kernel.hpp"
#include "stage_traits.hpp"

namespace algoperf::detail {

// The kernel of an element stage without a mask. Scheduled ones first: a schedule may be a function of the host alone.
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

// A stage without the masks around it.
template <class Stage>
auto unmasked(const Stage& stage) {
  if constexpr (HasMask<Stage>)
    return unmasked(static_cast<const typename Stage::Wrapped&>(stage));
  else
    return stage;
}

// A stage with its schedules asked.
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

// A plain measuring stage at a step: what it adds up, and the kernel it then is. A mask says whether the tensors of the
// group are `included`.
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

// A stage on the tensors of one group, and from its masks whether it acts on them: all that its kernel at a step is
// made of, wherever that is. Nothing of a matrix stage.
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

// Whether a stage acts on the tensors of the group that `spec` is one of.
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

// What a stage becomes over scalar S: called for its type only.
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

// Whether a device can make a stage's kernel of the count of steps alone.
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
