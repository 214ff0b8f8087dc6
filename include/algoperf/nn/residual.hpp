#pragma once

#include "../core/describe_shape.hpp"
#include "../core/map_kernels.hpp"
#include "ops/sum.hpp"
#include "sequential.hpp"

namespace algoperf {

// A residual connection around layers: y = x + f(x), where f applies the layers in order. dx = dy + f's dx.
// Shapes: f must keep the shape of an example; declare throws Error if it does not.
// Source: He et al. 2016, arXiv:1512.03385, equation 1.
// Cost: f's, plus 1 FLOP per element each in forward and backward. f's output is kept in addition to y.
template <class... Layers>
class Residual {
  using Inner = Sequential<Layers...>;

 public:
  using Handles = typename Inner::Handles;
  static constexpr bool has_buffers = Inner::has_buffers;
  static constexpr bool counts_memory = true;

  constexpr explicit Residual(const Layers&... layers) : inner_(layers...) {}

  constexpr const Inner& inner() const { return inner_; }
  constexpr Shape output(Shape in) const { return in; }
  constexpr std::uint64_t parameters(Shape in) const { return inner_.parameters(in); }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size();
    inner_.count_forward(in, batch, tally, true);
    tally.operation({"residual", n, 2 * n, n});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size();
    inner_.count_backward(in, batch, input_gradient, tally, true);
    if (input_gradient) tally.operation({"residual, gradient", n, 2 * n, n});
  }
  constexpr LayerMemory memory(Shape in) const { return inner_.memory(in); }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    const Shape out = inner_.output(in);
    require(out == in, name, ": Residual adds an example of shape ", describe(in), " to its layers' output of shape ",
            describe(out), ", expected the same shape");
    return inner_.declare(layout, name, in);
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& handles, Shape in) const {
    inner_.initialize(set, handles, in);
  }

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    return net(Sum{}, x, inner_(net, x));
  }

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& handles, Shape in, const S* x, S* y) const {
    const S* const change = inner_.forward(call, handles, in, x);
    call.backend.map(Add{}, call.batch * in.size(), y, x, change);
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& handles, Shape in, const S* x, const S*, const S* dy,
                S* dx) const {
    inner_.backward(call, handles, in, x, static_cast<const S*>(nullptr), dy, dx);
    if (dx != nullptr) call.backend.map(Add{}, call.batch * in.size(), dx, dy);
  }

 private:
  Inner inner_;
};

}  // namespace algoperf
