// Activation, InPlaceActivation: elementwise layers.
//
//   struct MyActivation : Activation<MyForward, MyBackward, 3, 5> {};
//
// The first argument of each kernel is the previous element of the result, which an activation ignores. MyForward is
// called as (old, x) and returns y = f(x). An Activation keeps its input; its MyBackward is called as (old, x, dy)
// and returns dx. If the backward pass needs only the output, use InPlaceActivation, which works in place; its
// MyBackward is called as (old, dy, y). The two constants are the FLOPs per element, forward and backward. Kernels
// are default-constructed empty types: a layer with a hyperparameter has to define forward and backward itself.
#pragma once

#include <cstdint>
#include <type_traits>

#include "concept.hpp"

namespace algoperf {

namespace detail {

template <class ForwardKernel, class BackwardKernel, std::uint64_t forward_flops, std::uint64_t backward_flops,
          bool keeps_input>
struct ActivationBase {
  static_assert(std::is_empty_v<ForwardKernel> && std::is_empty_v<BackwardKernel>,
                "algoperf: the kernels of an Activation must be empty types: a layer with a hyperparameter has to "
                "define forward and backward itself");
  static constexpr bool in_place = !keeps_input;
  struct Handles {};

  constexpr Shape output(Shape in) const { return in; }
  constexpr std::uint64_t parameters(Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size();
    tally.operation({"activation", forward_flops * n, n, n});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size();
    if (input_gradient) tally.operation({"activation, gradient", backward_flops * n, 2 * n, n});
  }
  constexpr LayerMemory memory(Shape) const { return {}; }
  Handles declare(Layout&, const std::string&, Shape) const { return {}; }

  template <class B, class S>
  void forward(const LayerCall<B>& call, Handles, Shape in, const S* x, S* y) const {
    call.backend.map(ForwardKernel{}, call.batch * in.size(), y, x);
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, Handles, Shape in, const S* x, const S* y, const S* dy, S* dx) const {
    if (dx == nullptr) return;
    if constexpr (keeps_input)
      call.backend.map(BackwardKernel{}, call.batch * in.size(), dx, x, dy);
    else
      call.backend.map(BackwardKernel{}, call.batch * in.size(), dx, dy, y);
  }
};

}  // namespace detail

template <class Forward, class Backward, std::uint64_t forward_flops, std::uint64_t backward_flops>
using Activation = detail::ActivationBase<Forward, Backward, forward_flops, backward_flops, true>;
template <class Forward, class Backward, std::uint64_t forward_flops, std::uint64_t backward_flops>
using InPlaceActivation = detail::ActivationBase<Forward, Backward, forward_flops, backward_flops, false>;

}  // namespace algoperf
