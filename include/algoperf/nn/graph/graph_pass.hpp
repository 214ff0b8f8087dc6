// GraphPass: the arguments of a forward or backward pass of a GraphExecutor.
#pragma once

#include <cstddef>

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
};

}  // namespace algoperf
