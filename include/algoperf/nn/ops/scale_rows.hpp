#pragma once

#include <array>
#include <cstddef>

#include "../../core/half.hpp"
#include "../../core/map_kernels.hpp"
#include "check_alike.hpp"

namespace algoperf {

// y = factor x, dx = factor dy, on any axis. In place. Cost: 1 FLOP per element forward, 1 backward.
struct ScaleRows {
  double factor = 1;
  static constexpr const char* name = "scale_rows";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    detail::check_activations(net, own, x[0]);
    return {no_index, x[0].axis, x[0].shape, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const {
    OpTraits traits;
    traits.decodes = true;
    traits.reads_inputs = 0;
    traits.in_place = 0;
    return traits;
  }
  template <class Call>
  void forward(const Call& call) const {
    scale(call, call.in(0), call.out());
  }
  template <class Call>
  void backward(const Call& call) const {
    if (call.d_in(0) != nullptr) scale(call, call.d_out(), call.d_in(0));
  }

 private:
  template <class Call>
  void scale(const Call& call, const typename Call::S* from, typename Call::S* to) const {
    using T = Arithmetic<typename Call::S>;
    call.pass.backend.map(ScaledBy<T>{static_cast<T>(factor)}, call.rows(0) * call.in_shape(0).size(), to, from);
  }
};

}  // namespace algoperf
