// OpCall: the arguments of an op's forward and backward.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/example_rows.hpp"
#include "decoding_step.hpp"
#include "in_place.hpp"

namespace algoperf {

// The members in(k), out(k), d_out(k) and d_in(k) point to the rows of input or output k and of their gradients, in the
// backend's memory. Each row has in_shape(k).size() or out_shape(k).size() elements.
template <class B>
struct OpCall {
  using Backend = B;
  using S = Stored<B>;
  using Scalar = typename B::Scalar;

  LayerCall<B> pass;  // pass.batch is the number of rows of input 0
  const ModelGraph* graph;
  const ModelGraph::Op* op;
  const TensorHandle* tensors;  // of each shared tensor of the graph
  const AxisRows* axes;         // the rows of each axis in this pass
  std::size_t examples = 0;     // in this pass
  void *const *x = nullptr, *const *y = nullptr, *const *dx = nullptr, *const *dy = nullptr;
  const Scalar* weights = nullptr;  // of a loss: one per row of its input, null in evaluation
  Scalar *last_input_scratch = nullptr, *example_scratch = nullptr;  // of the op's traits
  const DecodingStep<B>* decoding = nullptr;                         // null if the rows are whole sequences
  std::uint64_t adds = 0, adds_tensors = 0;

  const S* in(std::size_t k) const { return static_cast<const S*>(x[k]); }
  const std::int32_t* tokens(std::size_t k) const { return static_cast<const std::int32_t*>(x[k]); }
  S* out(std::size_t k = 0) const { return static_cast<S*>(y[k]); }
  Scalar* losses(std::size_t k = 0) const { return static_cast<Scalar*>(y[k]); }
  // The gradient of input k is to be written there, or added if adds_to(k); null if no gradient is needed.
  S* d_in(std::size_t k) const { return static_cast<S*>(dx[k]); }
  bool adds_to(std::size_t k) const { return detail::has_bit(adds, k); }
  const S* d_out(std::size_t k = 0) const { return static_cast<const S*>(dy[k]); }

  const Value& input(std::size_t k) const { return graph->values[graph->input(*op, k)].value; }
  const Value& output(std::size_t k = 0) const { return graph->values[graph->output(*op, k)].value; }
  const Shape& in_shape(std::size_t k) const { return input(k).shape; }
  const Shape& out_shape(std::size_t k = 0) const { return output(k).shape; }
  std::size_t rows(std::size_t k) const { return axis_of(k).count; }
  std::size_t out_rows(std::size_t k = 0) const { return axes[output(k).axis].count; }
  // The rows of the axis of input k: how many each example has, and where they begin.
  const AxisRows& axis_of(std::size_t k) const { return axes[input(k).axis]; }
  std::size_t inputs() const { return op->inputs.count; }

  // A shared tensor's values: `value` for elementwise use, `weight` for matrix products.
  const Scalar* value(SharedTensor t) const { return pass.value(tensors[t.index]); }
  const S* weight(SharedTensor t) const { return pass.weight(tensors[t.index]); }
  // Where its gradient is to be written, or added if adds_to_tensor(k) for tensor k of the op's tensors(). Null if the
  // tensor is fixed.
  Scalar* gradient(SharedTensor t) const {
    return graph->tensors[t.index].fixed ? nullptr : pass.gradient(tensors[t.index]);
  }
  bool adds_to_tensor(std::size_t k) const { return detail::has_bit(adds_tensors, k); }
};

}  // namespace algoperf
