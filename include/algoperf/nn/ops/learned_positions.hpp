#pragma once

#include <array>
#include <cstddef>

#include "../../core/map_kernels.hpp"
#include "../graph/op.hpp"
#include "../init.hpp"
#include "check_alike.hpp"

namespace algoperf {

namespace detail {

// y = x + table: adds row i of a table to row i of each example.
struct AddTable {
  SharedTensor table = {};  // {rows, width}
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
    const std::size_t elements = elements_per_example(call), n = call.examples * elements;
    if (call.out() != call.in(0)) call.pass.backend.copy(n, call.in(0), call.out());
    call.pass.backend.map_rows(Add{}, call.examples, elements, call.out(), call.value(table));
  }
  template <class Call>
  void backward(const Call& call) const {
    const std::size_t elements = elements_per_example(call);
    if (call.gradient(table) != nullptr)
      call.pass.backend.column_sums(call.examples, elements, call.d_out(), call.gradient(table));
    if (call.d_in(0) != nullptr && call.d_in(0) != call.d_out())
      call.pass.backend.copy(call.examples * elements, call.d_out(), call.d_in(0));
  }

 private:
  template <class Call>
  static std::size_t elements_per_example(const Call& call) {
    return call.rows(0) / call.examples * call.in_shape(0).size();
  }
};

}  // namespace detail

// A block that adds a trained vector for each position: y_i = x_i + p_i for row i of an example.
// Shapes: in {width} on an axis with several rows per example, out the same; `weight` {rows, width}.
// Source: Radford et al. 2018 (GPT); torch: x + nn.Parameter(rows, width).
// Cost: 1 FLOP per element forward and backward.
struct LearnedPositions {
  Init init = Init::small_normal;

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    net.check(x.axis != examples_axis, {}, "LearnedPositions expects several rows per example, got shape ", x.shape,
              " on the axis '", net.axis_name(x), "'");
    const std::size_t rows = net.rows_per_example(x);
    const SharedTensor table = net.tensor("weight", Kind::embedding, {rows, x.shape.size()}, init, 1, 1);
    return net(detail::AddTable{table}, x);
  }
};

}  // namespace algoperf
