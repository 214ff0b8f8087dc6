#pragma once

#include "../../core/describe_shape.hpp"
#include "../../core/math.hpp"
#include "../concept.hpp"

namespace algoperf {

// A gated linear unit: y = a sigmoid(b), where a is the first half of each row of the last axis, and b the second.
//   da = dy s,   db = dy a s (1 - s),   s = sigmoid(b)
// Shapes: in {..., 2 width}, out {..., width}. declare throws Error if the last extent is odd.
// Source: Dauphin et al. 2017, arXiv:1612.08083, equation 1. torch's GLU over the last axis.
// Cost: 4 FLOPs per element of the output forward, 11 backward.
struct Glu {
  struct Handles {};

  constexpr Shape output(Shape in) const {
    if (in.rank > 0) in.extents[in.rank - 1] /= 2;
    return in;
  }
  constexpr std::uint64_t parameters(Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size() / 2;
    tally.operation({"gate", 4 * n, 2 * n, n});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    const std::uint64_t n = batch * in.size() / 2;
    if (input_gradient) tally.operation({"gate, gradient", 11 * n, 3 * n, 2 * n});
  }
  constexpr LayerMemory memory(Shape) const { return {}; }
  Handles declare(Layout&, const std::string& name, Shape in) const {
    require(in.rank > 0 && in[in.rank - 1] % 2 == 0, name, ": Glu has an input of shape ", describe(in),
            ", expected an even last extent");
    return {};
  }

  struct Gate {
    template <class T>
    ALGOPERF_HD T operator()(T, T a, T b) const {
      return a * math::sigmoid(b);
    }
  };
  struct GateGradient {
    template <class T>
    ALGOPERF_HD T operator()(T, T a, T b, T dy) const {
      const T s = math::sigmoid(b);
      return dy * a * s * (T(1) - s);
    }
  };
  template <class S>
  struct Forward {
    std::size_t width;
    const S* x;
    S* y;
    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* const a = x + 2 * r * width;
      team.map(Gate{}, width, y + r * width, a, a + width);
    }
  };
  template <class S>
  struct Backward {
    std::size_t width;
    const S* x;
    const S* dy;
    S* dx;
    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const S* const a = x + 2 * r * width;
      const S* const d = dy + r * width;
      S* const da = dx + 2 * r * width;
      team.map(Gate{}, width, da, d, a + width);
      team.map(GateGradient{}, width, da + width, a, a + width, d);
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, Handles, Shape in, const S* x, S* y) const {
    const std::size_t width = in[in.rank - 1] / 2;
    call.backend.for_each_row(call.batch * in.size() / (2 * width), 4 * width, Forward<S>{width, x, y});
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, Handles, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    if (dx == nullptr) return;
    const std::size_t width = in[in.rank - 1] / 2;
    call.backend.for_each_row(call.batch * in.size() / (2 * width), 11 * width, Backward<S>{width, x, dy, dx});
  }
};

}  // namespace algoperf
