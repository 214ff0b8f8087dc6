#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../graph/op.hpp"

namespace algoperf {

namespace detail {

template <class S>
struct CopyTensor {
  std::size_t elements;
  const Arithmetic<S>* from;
  S* to;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const CopyTensor a = *this;
    team.each(elements, [=](std::size_t i) { a.to[e * a.elements + i] = S(a.from[i]); });
  }
};

}  // namespace detail

// The rows of a shared tensor as the rows of each example: an op without inputs, such as learned queries of attention.
// Shapes: tensor {rows, width}, out {width} on `axis`, which has `rows` rows per example.
//   const SharedTensor probe = net.tensor("probe", Kind::weight, {1, 64}, Init::glorot_uniform, 1, 64);
//   const Value query = net(RepeatTensor{probe, net.axis("probe", 1), 64});
// torch: tensor.expand(batch, -1, -1). Cost: 0 FLOPs forward, 1 per output element backward.
struct RepeatTensor {
  SharedTensor tensor = {};
  GraphIndex axis = examples_axis;
  std::size_t width = 1;
  static constexpr const char* name = "repeat_tensor";

  constexpr std::array<SharedTensor, 1> tensors() const { return {tensor}; }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 0>&) const {
    const Axis& rows = net.graph().axes[axis];
    const Shape& shape = net.graph().tensors[tensor.index].shape;
    net.check(!rows.ragged && shape.size() == rows.rows * width, own, "the tensor has shape ", shape, ", expected ",
              rows.rows, " rows of ", width, " elements, for the axis '", rows.name, "'");
    return {no_index, axis, Shape{width}, ElementType::activation};
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 0>&, Tally& tally) const {
    const std::uint64_t n = net.graph().axes[axis].rows * width;
    tally.operation({"repeat", 0, n, net.examples() * n});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 0>&, Tally& tally) const {
    const std::uint64_t n = net.graph().axes[axis].rows * width;
    tally.operation({"repeat, gradient", net.examples() * n, net.examples() * n, n});
  }

  template <class Call>
  void forward(const Call& call) const {
    const std::size_t n = call.axes[axis].longest * width;
    call.pass.backend.for_each_row(call.examples, n,
                                   detail::CopyTensor<typename Call::S>{n, call.value(tensor), call.out()});
  }
  template <class Call>
  void backward(const Call& call) const {
    if (call.gradient(tensor) != nullptr)
      call.pass.backend.column_sums(call.examples, call.axes[axis].longest * width, call.d_out(), call.gradient(tensor),
                                    call.adds_to_tensor(0));
  }
};

}  // namespace algoperf
