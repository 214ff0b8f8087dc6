#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/half.hpp"
#include "check_alike.hpp"
#include "example_row_kernels.hpp"

namespace algoperf {

enum class Pooling { mean, sum, max };

namespace detail {

// y_ec = the largest x_rc over the rows r of example e; 0 for an example without rows.
template <class S>
struct MaxOfRows {
  std::size_t width;
  ExampleRows rows;
  const S* x;
  S* y;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const std::size_t n = rows.count(e), of_row = width;
    const S* const from = x + rows.begin(e) * width;
    S* const to = y + e * width;
    team.each(width, [=](std::size_t c) {
      S most = n == 0 ? S(0) : from[c];
      for (std::size_t r = 1; r < n; ++r)
        if (Arithmetic<S>(from[r * of_row + c]) > Arithmetic<S>(most)) most = from[r * of_row + c];
      to[c] = most;
    });
  }
};

// The gradient goes to the first row with the largest element.
template <class S>
struct MaxOfRowsGradient {
  std::size_t width;
  ExampleRows rows;
  const S *x, *y, *dy;
  S* dx;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const std::size_t n = rows.count(e), of_row = width;
    const S *const from = x + rows.begin(e) * width, *const most = y + e * width, *const slope = dy + e * width;
    S* const to = dx + rows.begin(e) * width;
    team.each(width, [=](std::size_t c) {
      bool found = false;
      for (std::size_t r = 0; r < n; ++r) {
        const bool here = !found && Arithmetic<S>(from[r * of_row + c]) == Arithmetic<S>(most[c]);
        to[r * of_row + c] = here ? slope[c] : S(0);
        found = found || here;
      }
    });
  }
};

}  // namespace detail

// The mean, sum or maximum of each element over the rows of an example.
// Shapes: in {width} on any axis, out {width} on the axis of examples. An example without rows has output 0.
// torch_geometric: global_mean_pool, global_add_pool, global_max_pool. Of several largest elements, the first receives
// the gradient.
// Cost: (n - 1) width FLOPs forward for an example of n rows; the mean adds width + 1. Backward, n width + 1 for the
// mean, otherwise 0.
struct PoolRows {
  Pooling by = Pooling::mean;
  static constexpr const char* name = "pool_rows";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    detail::check_activations(net, own, x[0]);
    return {no_index, examples_axis, x[0].shape, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const {
    OpTraits traits;
    traits.reads_inputs = traits.reads_outputs = by == Pooling::max ? 1 : 0;
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t width = x[0].shape.size(), rows = net.rows(x[0]), examples = net.examples();
    const std::uint64_t joined = rows > examples ? rows - examples : 0;
    tally.operation(
        {"pool", joined * width + (by == Pooling::mean ? examples * (width + 1) : 0), rows * width, examples * width});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    if (!net.needs_gradient(x[0])) return;
    const std::uint64_t width = x[0].shape.size(), rows = net.rows(x[0]), examples = net.examples();
    tally.operation({"pool, gradient", by == Pooling::mean ? rows * width + examples : 0,
                     by == Pooling::max ? (rows + 2 * examples) * width : examples * width, rows * width});
  }

  template <class Call>
  void forward(const Call& call) const {
    using S = typename Call::S;
    const ExampleRows rows = call.axis_of(0).rows;
    const std::size_t width = call.in_shape(0).size(), cost = call.axis_of(0).longest * width;
    if (by == Pooling::max)
      call.pass.backend.for_each_row(call.examples, cost, detail::MaxOfRows<S>{width, rows, call.in(0), call.out()});
    else
      call.pass.backend.for_each_row(call.examples, cost,
                                     detail::SumOfRows<S>{width, rows, by == Pooling::mean, call.in(0), call.out()});
  }
  template <class Call>
  void backward(const Call& call) const {
    using S = typename Call::S;
    if (call.d_in(0) == nullptr) return;
    const ExampleRows rows = call.axis_of(0).rows;
    const std::size_t width = call.in_shape(0).size(), cost = call.axis_of(0).longest * width;
    if (by == Pooling::max)
      call.pass.backend.for_each_row(
          call.examples, cost,
          detail::MaxOfRowsGradient<S>{width, rows, call.in(0), call.out(), call.d_out(), call.d_in(0)});
    else
      call.pass.backend.for_each_row(
          call.examples, cost, detail::SpreadToRows<S>{width, rows, by == Pooling::mean, call.d_out(), call.d_in(0)});
  }
};

}  // namespace algoperf
