#pragma once

#include <array>
#include <cstddef>

#include "../../core/example_rows.hpp"
#include "../../core/half.hpp"
#include "../graph/op.hpp"
#include "../init.hpp"
#include "add_table_rows.hpp"
#include "check_alike.hpp"

namespace algoperf {

namespace detail {

// gradient_i = the sum of dy_r over the i-th rows of all examples.
template <class S>
struct TableGradient {
  using T = Arithmetic<S>;
  std::size_t width, examples;
  ExampleRows rows;
  const S* dy;
  T* gradient;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t i) const {
    const TableGradient a = *this;
    team.each(width, [=](std::size_t c) {
      T sum = 0;
      for (std::size_t e = 0; e < a.examples; ++e)
        if (i < a.rows.count(e)) sum += T(a.dy[(a.rows.begin(e) + i) * a.width + c]);
      a.gradient[i * a.width + c] = sum;
    });
  }
};

// y = x + table: adds row i of a table to row i of each example.
struct AddTable {
  SharedTensor table = {};  // {positions, width}
  std::size_t positions = 1;
  static constexpr const char* name = "add_table";

  constexpr std::array<SharedTensor, 1> tensors() const { return {table}; }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    check_activations(net, own, x[0]);
    return {no_index, x[0].axis, x[0].shape, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const {
    OpTraits traits;
    traits.reads_inputs = 0;
    traits.in_place = 0;
    traits.decodes = true;
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]) * x[0].shape.size(), own = net.rows_per_example(x[0]) * x[0].shape.size();
    tally.operation({"positions", n, n + own, n});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]) * x[0].shape.size(), own = net.rows_per_example(x[0]) * x[0].shape.size();
    tally.operation({"positions, gradient", n, n, own});
  }

  template <class Call>
  void forward(const Call& call) const {
    add_table_rows(call, call.value(table) + place_of_rows(call) * call.in_shape(0).size());
  }
  template <class Call>
  void backward(const Call& call) const {
    const std::size_t width = call.in_shape(0).size(), n = call.rows(0) * width;
    const AxisRows& axis = call.axis_of(0);
    if (call.gradient(table) != nullptr && axis.rows.begins == nullptr)
      call.pass.backend.column_sums(call.examples, n / call.examples, call.d_out(), call.gradient(table));
    else if (call.gradient(table) != nullptr)
      call.pass.backend.for_each_row(
          positions, call.examples * width,
          TableGradient<typename Call::S>{width, call.examples, axis.rows, call.d_out(), call.gradient(table)});
    pass_gradient(call);
  }
};

}  // namespace detail

// A block that adds a trained vector for each position: y_r = x_r + p_i for row r, the i-th of its example.
// Shapes: in {width} on an axis with several rows per example, out the same; `weight` {positions, width}.
// Hyperparameters: positions, the largest number of rows of an example on a ragged axis. On a fixed axis, 0 stands for
//   its number of rows.
// Source: Radford et al. 2018 (GPT); torch: x + nn.Parameter(rows, width).
// Errors: a batch with an example of more rows than positions throws Error.
// Cost: 1 FLOP per element forward and backward.
struct LearnedPositions {
  Init init = Init::small_normal;
  std::size_t positions = 0;

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    net.check(x.axis != examples_axis, {}, "LearnedPositions expects several rows per example, got shape ", x.shape,
              " on the axis '", net.axis_name(x), "'");
    net.check(positions > 0 || !net.is_ragged(x), {}, "LearnedPositions: positions is 0, expected the most rows of an ",
              "example on the ragged axis '", net.axis_name(x), "'");
    const std::size_t rows = net.is_ragged(x) ? positions : net.rows_per_example(x);
    if (net.is_ragged(x)) net.limit_rows(x.axis, positions, "LearnedPositions's positions");
    net.check(positions == 0 || positions == rows, {}, "LearnedPositions: positions is ", positions, ", but the axis '",
              net.axis_name(x), "' has ", rows, " rows per example");
    const SharedTensor table = net.tensor("weight", Kind::embedding, {rows, x.shape.size()}, init, 1, 1);
    return net(detail::AddTable{table, rows}, x);
  }
};

}  // namespace algoperf
