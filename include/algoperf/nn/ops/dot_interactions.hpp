#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/half.hpp"
#include "check_alike.hpp"

namespace algoperf {

// The products of the rows of {n, width}, each with itself and with every later row: n (n + 1) / 2 elements
//   y = (x_0 . x_0, x_0 . x_1, ..., x_0 . x_n-1, x_1 . x_1, ..., x_n-1 . x_n-1)
//   dx_i = sum over j != i of dy_ij x_j, plus 2 dy_ii x_i
// Shapes: in {n, width}, out {n (n + 1) / 2}.
// Source: Naumov et al. 2019 (DLRM), arXiv:1906.00091, section 2.1.3, which leaves out the products of a row with
//   itself; AlgoPerf's DLRM keeps them.
// Cost: 2 width FLOPs per product forward, 2 width n^2 per example backward.
struct DotInteractions {
  static constexpr const char* name = "dot_interactions";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    detail::check_activations(net, own, x[0]);
    net.check(x[0].shape.rank == 2, own, "the input has shape ", x[0].shape, ", expected {rows, width}");
    return {no_index, x[0].axis, Shape{pairs(x[0].shape)}, ElementType::activation};
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]), products = n * pairs(x[0].shape);
    tally.operation({"dot interactions", 2 * products * x[0].shape[1], n * x[0].shape.size(), products});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    if (!net.needs_gradient(x[0])) return;
    const std::uint64_t n = net.rows(x[0]), elements = n * x[0].shape.size();
    tally.operation(
        {"dot interactions, gradient", 2 * elements * x[0].shape[0], elements + n * pairs(x[0].shape), elements});
  }

  template <class S>
  struct Forward {
    using T = Arithmetic<S>;
    std::size_t n, width;
    const S* x;
    S* y;
    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t example) const {
      const std::size_t size = width;
      const S* row = x + example * n * width;
      S* to = y + example * (n * (n + 1) / 2);
      for (std::size_t i = 0; i < n; ++i) {
        const S* const first = row;
        S* const out = to;
        team.each(n - i, [=](std::size_t k) {
          T sum = 0;
          for (std::size_t c = 0; c < size; ++c) sum += T(first[c]) * T(first[k * size + c]);
          out[k] = S(sum);
        });
        row += width;
        to += n - i;
      }
    }
  };
  template <class S>
  struct Backward {
    using T = Arithmetic<S>;
    std::size_t n, width;
    const S* x;
    const S* dy;
    S* dx;
    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t example) const {
      const std::size_t rows = n, size = width;
      const S* const from = x + example * n * width;
      const S* const d = dy + example * (n * (n + 1) / 2);
      for (std::size_t i = 0; i < n; ++i) {
        S* const to = dx + (example * n + i) * width;
        team.each(width, [=](std::size_t c) {
          T sum = 0;
          std::size_t place = i;  // of the product of rows j and i, for j up to i
          for (std::size_t j = 0; j < i; ++j) {
            sum += T(d[place]) * T(from[j * size + c]);
            place += rows - j - 1;
          }
          sum += T(2) * T(d[place]) * T(from[i * size + c]);
          for (std::size_t j = i + 1; j < rows; ++j) sum += T(d[place + j - i]) * T(from[j * size + c]);
          to[c] = S(sum);
        });
      }
    }
  };

  template <class Call>
  void forward(const Call& call) const {
    const Shape in = call.in_shape(0);
    call.pass.backend.for_each_row(call.rows(0), pairs(in) * in[1],
                                   Forward<typename Call::S>{in[0], in[1], call.in(0), call.out()});
  }
  template <class Call>
  void backward(const Call& call) const {
    if (call.d_in(0) == nullptr) return;
    const Shape in = call.in_shape(0);
    call.pass.backend.for_each_row(call.rows(0), in.size() * in[0],
                                   Backward<typename Call::S>{in[0], in[1], call.in(0), call.d_out(), call.d_in(0)});
  }

 private:
  static constexpr std::size_t pairs(const Shape& shape) { return shape[0] * (shape[0] + 1) / 2; }
};

}  // namespace algoperf
