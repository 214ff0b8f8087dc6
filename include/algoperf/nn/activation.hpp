// Activation: a layer that maps every number by itself, its input kept for the way back.
//
//   struct MyActivation : Activation<MyForward, MyBackward, 3, 5> {};
//
// where MyForward is a kernel y = f(x), called as (anything, x); MyBackward one for dx, called as (anything, x, dy);
// and the numbers are the FLOPs an element of each. Kernels are made without options: a layer with a hyperparameter has
// forward and backward of its own. Relu and Tanh, whose way back needs their output alone, work in place instead.
#pragma once

#include <cstdint>
#include <type_traits>

#include "concept.hpp"

namespace algoperf {

template <class ForwardKernel, class BackwardKernel, std::uint64_t forward_flops, std::uint64_t backward_flops>
struct Activation {
  static_assert(std::is_empty_v<ForwardKernel> && std::is_empty_v<BackwardKernel>,
                "algoperf: an Activation makes its kernels without options: a layer with a hyperparameter has forward "
                "and backward of its own");
  struct Handles {};

  constexpr Shape output(Shape in) const { return in; }
  constexpr Cost cost(Shape in) const { return {0, forward_flops * in.size(), backward_flops * in.size(), in.size()}; }
  constexpr LayerMemory memory(Shape) const { return {}; }
  Handles declare(Layout&, const std::string&, Shape) const { return {}; }

  template <class B, class S>
  void forward(const LayerPass<B>& pass, Handles, Shape in, const S* x, S* y) const {
    pass.backend.map(ForwardKernel{}, pass.batch * in.size(), y, x);
  }
  template <class B, class S>
  void backward(const LayerPass<B>& pass, Handles, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    if (dx != nullptr) pass.backend.map(BackwardKernel{}, pass.batch * in.size(), dx, x, dy);
  }
};

}  // namespace algoperf
