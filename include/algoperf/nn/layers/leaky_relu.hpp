#pragma once

#include "../../core/math.hpp"
#include "../concept.hpp"

namespace algoperf {

// y = x where x > 0, else slope x, in place; dx = dy where y > 0, else slope dy, also at 0, as in torch. NaN passes
// through. slope must be at least 0: with a negative slope, the sign of y would not determine the sign of x (torch's
// in-place version has the same restriction). Source: Maas et al. 2013. Cost: 2 FLOPs per element each in forward and
// backward.
struct LeakyRelu {
  static constexpr bool in_place = true;
  double slope = 0.01;

  struct Handles {};

  constexpr Shape output(Shape in) const { return in; }
  constexpr std::uint64_t parameters(Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size();
    tally.operation({"activation", 2 * n, n, n});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size();
    if (input_gradient) tally.operation({"activation, gradient", 2 * n, 2 * n, n});
  }
  constexpr LayerMemory memory(Shape) const { return {}; }
  Handles declare(Layout&, const std::string& name, Shape) const {
    require(slope >= 0, name, ": LeakyRelu has slope ", slope, ", expected at least 0");
    return {};
  }

  template <class S>
  struct Forward {
    S slope = 0;
    template <class T>
    ALGOPERF_HD T operator()(T, T x) const {
      return math::select<T>(x <= T(0), slope * x, x);
    }
  };
  template <class S>
  struct Backward {
    S slope = 0;
    template <class T>
    ALGOPERF_HD T operator()(T, T dy, T y) const {
      return math::select<T>(y <= T(0), slope * dy, dy);
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, Handles, Shape in, const S* x, S* y) const {
    call.backend.map(Forward<Arithmetic<S>>{static_cast<Arithmetic<S>>(slope)}, call.batch * in.size(), y, x);
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, Handles, Shape in, const S*, const S* y, const S* dy, S* dx) const {
    if (dx == nullptr) return;
    call.backend.map(Backward<Arithmetic<S>>{static_cast<Arithmetic<S>>(slope)}, call.batch * in.size(), dx, dy, y);
  }
};

}  // namespace algoperf
