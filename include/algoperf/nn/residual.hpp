#pragma once

#include "ops/sum.hpp"
#include "sequential.hpp"

namespace algoperf {

// A residual connection around parts: y = x + f(x), where f applies the parts in order. dx = dy + f's dx.
// Shapes: f must keep the shape of a row; recording the model throws Error if it does not.
// Source: He et al. 2016, arXiv:1512.03385, equation 1.
// Cost: f's, plus 1 FLOP per element each in forward and backward. f's output is kept in addition to y.
template <class... Parts>
class Residual {
 public:
  static constexpr bool reads_tokens = false;
  static constexpr bool has_buffers = Sequential<Parts...>::has_buffers;

  constexpr explicit Residual(const Parts&... parts) : inner_(parts...) {}

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const Value change = inner_(net, x);
    net.check(change.shape == x.shape, {}, "Residual adds a row of shape ", x.shape, " to its layers' output of shape ",
              change.shape, ", expected the same shape");
    return net(Sum{}, x, change);
  }

 private:
  Sequential<Parts...> inner_;
};

}  // namespace algoperf
