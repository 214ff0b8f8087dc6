#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/math.hpp"
#include "../graph/op.hpp"
#include "attention_rows.hpp"
#include "attention_step.hpp"
#include "check_alike.hpp"

namespace algoperf {

// Scaled dot-product attention with several heads, between the rows of each example:
//   y_i = sum_j softmax_j(scale q_i . k_j) v_j     for each head, which has `size` = width / heads elements
// With weights = AttentionWeights::relu, the weights are proportional to the positive scores:
//   y_i = sum_j r_ij v_j / sum_j r_ij,   r_ij = max(q_i . k_j, 0);   y_i = 0 if no score is above 0
// A query of an example without keys has output 0.
// Shapes: one input holds queries, keys and values: {3 width}, in this order, on an axis with several rows per example.
//   Or two: queries {width}; keys and values {2 width}, on an axis of their own. Output {width}, on the queries' axis.
//   Head h has elements [h size, (h + 1) size) of each part.
// Hyperparameters: heads, which must divide the width; causal: row i reads rows [0, i] only (one input); scale, at
//   least 0; 0 means 1 / sqrt(size). It does not affect the output with relu.
// Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2; the softmax is computed in tiles as in Dao et al. 2022,
//   arXiv:2205.14135, algorithm 1, so a square of scores is never stored. torch's scaled_dot_product_attention,
//   without its mask and its dropout. The projections are Dense layers before and after. relu: Li et al. 2022,
//   arXiv:2202.00980. With relu, a common positive factor of the queries and keys does not change the output.
// Cost: per pair of a query and a key, 4 width + 6 heads FLOPs forward and 10 width + 6 heads backward; with relu,
//   4 width + 3 heads and 10 width + 4 heads. Causal attention has n (n + 1) / 2 pairs per example of n rows. Stores
//   one element per query and head for the backward pass. Reserves two more as scratch for the loops over rows and,
//   with two inputs, two per key and head.
// In decoding, causal attention keeps 2 width elements for each row of a step.
// Host works on tiles by matrix products, and Cuda on tiles in shared memory for heads of up to 128 elements. Larger
// heads and relu on Cuda, and Thrust, run a loop over rows, which is not fast.
struct Attention {
  std::size_t heads = 1;
  bool causal = false;
  double scale = 0;
  AttentionWeights weights = AttentionWeights::softmax;
  static constexpr const char* name = "attention";

  template <class Net, std::size_t N>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, N>& x) const {
    static_assert(N <= 2, "algoperf: Attention takes one value, or the queries, and the keys with the values");
    for (const Value& value : x) {
      detail::check_activations(net, own, value);
      net.check(value.axis != examples_axis, own, "expected several rows per example, got shape ", value.shape,
                " on the axis '", net.axis_name(value), "'; net.rows_of() makes rows of an example's first extent");
    }
    const std::size_t width = width_of(x);
    net.check(N == 2 || width * 3 == x[0].shape.size(), own, "the input has shape ", x[0].shape,
              ", expected queries, keys and values of the same width");
    net.check(heads > 0 && width % heads == 0, own, "heads is ", heads, ", expected a divisor of the width, ", width);
    if constexpr (N == 2)
      net.check(x[1].shape.size() == 2 * width, own, "the keys and values have shape ", x[1].shape,
                ", expected twice the width of the queries, ", 2 * width);
    net.check(scale >= 0 && scale < __builtin_inf(), own,
              "scale is negative, infinite or not a number, expected at least 0");
    net.check(!causal || N == 1, own, "causal attention takes one input, whose rows are both queries and keys");
    return {no_index, x[0].axis, Shape{width}, ElementType::activation};
  }
  template <std::size_t N>
  constexpr OpTraits traits(const std::array<Value, N>& x) const {
    OpTraits traits;
    traits.reads_outputs = 1;
    // Per query and head: one log-sum, and two scratch elements for the loops over rows.
    traits.memory.exact = 3 * heads;
    if (N == 2) traits.last_input_scratch = 2 * heads;
    if (causal) {
      traits.decodes = true;
      traits.kept_of_step = 2 * width_of(x);  // the key and the value
      traits.exact_of_step = heads;           // scratch memory for the weights
    } else if (N == 2 && x[0].axis != x[1].axis) {
      traits.decodes = true;
    }
    return traits;
  }
  template <class Net, std::size_t N, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, N>& x, Tally& tally) const {
    const std::uint64_t n = pairs(net, x), width = width_of(x), rows = net.rows(x[0]);
    tally.operation(
        {"attention", n * (4 * width + (is_relu() ? 3 : 6) * heads), elements(net, x), rows * (width + heads)});
  }
  template <class Net, std::size_t N, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, N>& x, Tally& tally) const {
    const std::uint64_t n = pairs(net, x), width = width_of(x), rows = net.rows(x[0]);
    tally.operation({"attention, gradient", n * (10 * width + (is_relu() ? 4 : 6) * heads),
                     elements(net, x) + rows * (2 * width + heads), elements(net, x)});
  }

  template <class Call>
  void forward(const Call& call) const {
    using S = typename Call::S;
    using B = typename Call::Backend;
    const AttentionShape shape = shape_of(call);
    if (causal && call.decoding != nullptr)
      return call.pass.backend.for_each_row(
          call.rows(0) * heads, (call.decoding->sequences.place + 1) * shape.size,
          detail::AttentionStep<S>{shape, call.decoding->sequences, inputs(call), call.decoding->kept,
                                   call.decoding->exact, call.out()});
    if constexpr (AttendingBackend<B>)
      if (attends<B>(shape))
        return call.pass.backend.attention(shape).forward(inputs(call), call.out(), call.pass.exact);
    if constexpr (!attends_always<B>)
      call.pass.backend.for_each_row(shape.examples * heads, cost(shape),
                                     detail::AttentionForward<S>{rows_of(call, shape), call.out(), call.pass.exact});
  }
  template <class Call>
  void backward(const Call& call) const {
    using S = typename Call::S;
    using B = typename Call::Backend;
    const AttentionShape shape = shape_of(call);
    const bool one = call.inputs() == 1;
    const std::size_t width = shape.width();
    S *const dq = call.d_in(0), *const dk = one ? dq : call.d_in(1);
    const AttentionGradients<S> d{dq, one && dk != nullptr ? dk + width : dk,
                                  dk == nullptr ? nullptr : dk + (one ? 2 : 1) * width};
    if (d.query == nullptr && d.key == nullptr) return;
    const S* const out = call.out();
    if constexpr (AttendingBackend<B>)
      if (attends<B>(shape))
        return call.pass.backend.attention(shape).backward(inputs(call), out, call.pass.exact, call.d_out(), d);
    if constexpr (!attends_always<B>)
      call.pass.backend.for_each_row(
          shape.examples * heads, cost(shape),
          detail::AttentionBackward<S>{rows_of(call, shape), out, call.pass.exact, call.d_out(), d});
  }

 private:
  constexpr bool is_relu() const { return weights == AttentionWeights::relu; }
  template <std::size_t N>
  static constexpr std::size_t width_of(const std::array<Value, N>& x) {
    return N == 1 ? x[0].shape.size() / 3 : x[0].shape.size();
  }
  template <class Net, std::size_t N>
  constexpr std::uint64_t pairs(const Net& net, const std::array<Value, N>& x) const {
    const std::uint64_t n = net.rows_per_example(x[0]), m = net.rows_per_example(x[N - 1]);
    return net.examples() * (causal ? n * (n + 1) / 2 : n * m);
  }
  template <class Net, std::size_t N>
  static constexpr std::uint64_t elements(const Net& net, const std::array<Value, N>& x) {
    std::uint64_t n = 0;
    for (const Value& value : x) n += net.rows(value) * value.shape.size();
    return n;
  }
  template <class Call>
  AttentionShape shape_of(const Call& call) const {
    const std::size_t width = call.out_shape().size(), last = call.inputs() - 1;
    return {call.examples,
            heads,
            width / heads,
            call.axis_of(0).rows,
            call.axis_of(last).rows,
            call.axis_of(0).longest,
            call.axis_of(last).longest,
            call.in_shape(0).size(),
            call.in_shape(last).size(),
            causal,
            is_relu()   ? 1
            : scale > 0 ? scale
                        : 1 / math::sqrt(static_cast<double>(width / heads)),
            weights};
  }
  template <class Call>
  static AttentionInputs<typename Call::S> inputs(const Call& call) {
    const std::size_t width = call.out_shape().size();
    const bool one = call.inputs() == 1;
    const auto* const key = one ? call.in(0) + width : call.in(1);
    return {call.in(0), key, key + width};
  }
  template <class Call>
  static detail::AttentionRows<typename Call::S> rows_of(const Call& call, const AttentionShape& shape) {
    auto* const of_queries = call.pass.exact + call.rows(0) * shape.heads;
    return {shape, inputs(call), static_cast<Arithmetic<typename Call::S>>(shape.scale), of_queries,
            call.inputs() == 1 ? of_queries : call.last_input_scratch};
  }
  static std::size_t cost(const AttentionShape& shape) { return shape.most_queries * shape.most_keys * shape.size; }
};

}  // namespace algoperf
