#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/example_rows.hpp"
#include "../../core/half.hpp"
#include "../../core/map_kernels.hpp"
#include "../graph/op.hpp"
#include "../init.hpp"
#include "check_alike.hpp"

namespace algoperf {

namespace detail {

// y_i = the sum over k of w_k x_j, element by element, with j = i + k - (size - 1) / 2 within the example. If
// `reversed`, w_(size - 1 - k) replaces w_k, which computes the gradient of the input. A call computes the rows of one
// example.
template <class S>
struct ConvolveRows {
  using T = Arithmetic<S>;
  std::size_t width, size;
  ExampleRows rows;
  bool reversed;
  const T* weight;
  const S* x;
  S* y;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const ConvolveRows a = *this;
    const std::size_t n = rows.count(e), before = (size - 1) / 2;
    const S* const from = x + rows.begin(e) * width;
    S* const to = y + rows.begin(e) * width;
    if constexpr (std::is_same_v<S, T> && Team::size == 1) {
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t first = i < before ? before - i : 0;
        for (std::size_t k = first; k < size && i + k < n + before; ++k) {
          const T* const w = weight + (reversed ? size - 1 - k : k) * width;
          const S* const row = from + (i + k - before) * width;
          if (k == first)
            team.map(Times{}, width, to + i * width, row, w);
          else
            team.map(AddProduct{}, width, to + i * width, row, w);
        }
      }
    } else {
      team.each(n * width, [=](std::size_t at) {
        const std::size_t i = at / a.width, c = at % a.width;
        T sum = 0;
        for (std::size_t k = i < before ? before - i : 0; k < a.size && i + k < n + before; ++k)
          sum += a.weight[(a.reversed ? a.size - 1 - k : k) * a.width + c] * T(from[(i + k - before) * a.width + c]);
        to[at] = S(sum);
      });
    }
  }
};

// The contribution of an example to the gradient of the weight: for each k, the sum over i of dy_i x_j.
template <class S>
struct ConvolvedRowsGradient {
  using T = Arithmetic<S>;
  std::size_t width, size;
  ExampleRows rows;
  const S *x, *dy;
  T* of_examples;  // size * width elements each

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const ConvolvedRowsGradient a = *this;
    const std::size_t n = rows.count(e), before = (size - 1) / 2;
    const S *const from = x + rows.begin(e) * width, *const slope = dy + rows.begin(e) * width;
    T* const to = of_examples + e * size * width;
    if constexpr (std::is_same_v<S, T> && Team::size == 1) {
      team.each(size * width, [=](std::size_t at) { to[at] = T(0); });
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = i < before ? before - i : 0; k < size && i + k < n + before; ++k)
          team.map(AddProduct{}, width, to + k * width, slope + i * width, from + (i + k - before) * width);
    } else {
      team.each(size * width, [=](std::size_t at) {
        const std::size_t k = at / a.width, c = at % a.width;
        T sum = 0;
        for (std::size_t i = k < before ? before - k : 0; i < n && i + k < n + before; ++i)
          sum += T(slope[i * a.width + c]) * T(from[(i + k - before) * a.width + c]);
        to[at] = sum;
      });
    }
  }
};

struct ConvolveRowsOp {
  SharedTensor weight = {};  // {size, width}, of this op alone
  std::size_t size = 1;
  static constexpr const char* name = "convolve_rows";

  constexpr std::array<SharedTensor, 1> tensors() const { return {weight}; }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    check_activations(net, own, x[0]);
    return {no_index, x[0].axis, x[0].shape, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 1>& x) const {
    OpTraits traits;
    traits.example_scratch = size * x[0].shape.size();
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t width = x[0].shape.size(), n = net.rows(x[0]) * width;
    tally.operation({"depthwise convolution", convolution_flops(net, x[0]), n + size * width, n});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t width = x[0].shape.size(), n = net.rows(x[0]) * width, weights = size * width;
    tally.operation({"depthwise convolution, weight gradient", 2 * pairs(net, x[0]) * width + net.examples() * weights,
                     2 * n + net.examples() * weights, (net.examples() + 1) * weights});
    if (net.needs_gradient(x[0]))
      tally.operation({"depthwise convolution, input gradient", convolution_flops(net, x[0]), n + weights, n});
  }

  template <class Call>
  void forward(const Call& call) const {
    convolve(call, false, call.in(0), call.out());
  }
  template <class Call>
  void backward(const Call& call) const {
    using S = typename Call::S;
    const std::size_t width = call.in_shape(0).size();
    if (auto* const gradient = call.gradient(weight)) {
      call.pass.backend.for_each_row(
          call.examples, cost(call),
          ConvolvedRowsGradient<S>{width, size, call.axis_of(0).rows, call.in(0), call.d_out(), call.example_scratch});
      call.pass.backend.column_sums(call.examples, size * width, call.example_scratch, gradient);
    }
    if (call.d_in(0) != nullptr) convolve(call, true, call.d_out(), call.d_in(0));
  }

 private:
  // Returns the number of pairs of an output row and an input row that it reads.
  template <class Net>
  constexpr std::uint64_t pairs(const Net& net, const Value& x) const {
    const std::uint64_t n = net.rows_per_example(x);
    std::uint64_t of_example = n;
    for (std::uint64_t distance = 1; distance <= (size - 1) / 2 && distance < n; ++distance)
      of_example += 2 * (n - distance);
    return net.examples() * of_example;
  }
  template <class Net>
  constexpr std::uint64_t convolution_flops(const Net& net, const Value& x) const {
    return (2 * pairs(net, x) - net.rows(x)) * x.shape.size();
  }
  template <class Call>
  void convolve(const Call& call, bool reversed, const typename Call::S* x, typename Call::S* y) const {
    call.pass.backend.for_each_row(call.examples, cost(call),
                                   ConvolveRows<typename Call::S>{call.in_shape(0).size(), size, call.axis_of(0).rows,
                                                                  reversed, call.value(weight), x, y});
  }
  template <class Call>
  std::size_t cost(const Call& call) const {
    return call.axis_of(0).longest * call.in_shape(0).size() * size;
  }
};

}  // namespace detail

// A block that convolves each channel along the rows of an example, with zeros before and after them:
//   y_ic = sum over k of w_kc x_jc,   j = i + k - (size - 1) / 2
// Shapes: in {channels} on an axis with several rows per example, out the same; `weight` {size, channels}.
// Hyperparameters: size, odd; init. There is no bias.
// Source: the convolution of the Conformer, Gulati et al. 2020, arXiv:2005.08100, figure 2; torch's Conv1d with
//   padding="same" and as many groups as channels, whose weight is the transpose, {channels, 1, size}.
// Cost: 2 FLOPs per element and k forward, 4 backward, less those of rows outside of the example.
struct DepthwiseConv1d {
  std::size_t size = 5;
  Init init = Init::glorot_uniform;

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    net.check(x.axis != examples_axis, {}, "DepthwiseConv1d expects several rows per example, got shape ", x.shape,
              " on the axis '", net.axis_name(x), "'");
    net.check(size % 2 == 1, {}, "DepthwiseConv1d has size ", size, ", expected an odd number");
    const std::size_t width = x.shape.size();
    const SharedTensor weight = net.tensor("weight", Kind::conv_weight, {size, width}, init, size, size * width);
    return net(detail::ConvolveRowsOp{weight, size}, x);
  }
};

}  // namespace algoperf
