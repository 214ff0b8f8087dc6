// GraphPass: the arguments of a forward or backward pass of a GraphExecutor.
#pragma once

#include <cstddef>

#include "../../core/error.hpp"
#include "../../core/example_rows.hpp"
#include "../../core/random.hpp"
#include "op_call.hpp"

namespace algoperf {

// Receives the call of every op just before its backward, if the op has rows in this pass.
template <class B>
struct BackwardObserver {
  virtual void before_backward(GraphIndex op, const OpCall<B>& call) = 0;

 protected:
  ~BackwardObserver() = default;
};

namespace detail {

// Throws Error if an axis cannot have the rows that are bound to it.
inline void check_bound_rows(const Axis& axis, const AxisRows& rows) {
  require(axis.ragged, "GraphExecutor: the axis '", axis.name, "' is not ragged");
  require(axis.most == 0 || rows.longest <= axis.most, "GraphExecutor: an example has ", rows.longest,
          " rows on the axis '", axis.name, "', expected at most ", axis.most, " (", axis.limit, ")");
}

}  // namespace detail

// A pass over the batch whose fields are bound.
template <class B>
struct GraphPass {
  const typename B::Scalar* values = nullptr;  // of the parameters, with the model's layout
  typename B::Scalar* gradients = nullptr;     // null if backward is not called
  std::size_t examples = 0;                    // at most the executor's capacity
  Mode mode = Mode::train;
  RandomKey key = {};
  std::size_t first = 0;                        // index of the first example within the step's batch
  const typename B::Scalar* weights = nullptr;  // one per row of the losses; null if backward is not called
  BackwardObserver<B>* observer = nullptr;      // optional
  const DecodingStep<B>* decoding = nullptr;    // of each op, in a step of decoding
};

}  // namespace algoperf
