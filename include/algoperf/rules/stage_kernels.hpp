// What a stage becomes at a step: an element stage its kernel; a measuring stage a Measured, which becomes a kernel
// wherever its sums are known, on a device too.
#pragma once

#include <cstddef>
#include <type_traits>

#include "masked_kernel.hpp"
#include "stage_traits.hpp"

namespace algoperf::detail {

// The kernel of an element stage, on the tensors of a group that `spec` is one of.
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

// A stage without the masks around it, and with its schedules asked.
template <class Stage>
auto plain_stage(const Stage& stage, Step step) {
  if constexpr (requires { stage.now(step); })
    return plain_stage(stage.now(step), step);
  else if constexpr (Wraps<Stage>)
    return plain_stage(static_cast<const typename Stage::Wrapped&>(stage), step);
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

template <class S, class Stage>
auto measured(const Stage& stage, Step step, const TensorSpec& spec, const ScalarsOf<Stage>& scalars) {
  using Plain = decltype(plain_stage(stage, step));
  if constexpr (HasMask<Stage>)
    return Measured<S, Plain, true>{plain_stage(stage, step), step, scalars, stage.includes(spec)};
  else
    return Measured<S, Plain, false>{plain_stage(stage, step), step, scalars, true};
}

// What a stage becomes over scalar S: called for its type only.
template <class S, class Stage>
auto kernel_of(const Stage& stage, const TensorSpec& spec) {
  if constexpr (is_matrix<Stage>)
    return;
  else if constexpr (is_measuring<Stage>)
    return measured<S>(stage, Step{}, spec, {})(nullptr, TensorFacts{});
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

}  // namespace algoperf::detail
