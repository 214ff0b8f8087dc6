#pragma once

#include <cstddef>

#include "memory_plan.hpp"
#include "recorded_model.hpp"

namespace algoperf::detail {

// Writes the gradients that an op without rows of outputs has: 0.
template <class B>
ALGOPERF_COLD void clear_gradients(const RecordedModel<B>& model, const PlanStep& step, const OpCall<B>& call) {
  const B& backend = call.pass.backend;
  const Layout& layout = model.layout();
  const auto clear = [&](TensorHandle handle) {
    if (!layout.spec(handle).fixed)
      backend.fill(layout.place_of(handle).size, call.pass.gradient(handle), typename B::Scalar(0));
  };
  for (std::size_t k = 0; k < call.inputs(); ++k)
    if (call.d_in(k) != nullptr && !call.adds_to(k))
      backend.fill(call.rows(k) * call.in_shape(k).size(), call.d_in(k), Stored<B>(0));
  if (step.kind == PlanStep::Kind::forward) return;
  for (std::size_t k = 0; k < call.op->uses.count; ++k)
    if (!call.adds_to_tensor(k)) clear(model.ops().tensors()[call.graph->tensor(*call.op, k)]);
  const auto own = model.ops().own_tensors(step.op);
  for (std::size_t t = own.begin; t < own.end; ++t) clear({static_cast<std::uint32_t>(t)});
}

}  // namespace algoperf::detail
