// Gradients that no op of a pass writes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory_plan.hpp"
#include "recorded_model.hpp"

namespace algoperf::detail {

// Returns the tensors whose gradient no step of a plan writes, because no loss depends on them.
template <class B>
ALGOPERF_COLD List<TensorHandle> untouched_tensors(const RecordedModel<B>& model, const MemoryPlan& plan) {
  List<TensorHandle> untouched;
  const auto add = [&](TensorHandle handle) {
    if (!model.layout().spec(handle).fixed) untouched.push_back(handle);
  };
  for (std::size_t i = 0; i < plan.runs_backward.size(); ++i)
    if (plan.runs_backward[i] == 0)
      for (std::size_t t = model.ops().own_tensors(i).begin; t < model.ops().own_tensors(i).end; ++t)
        add({static_cast<std::uint32_t>(t)});
  for (std::size_t i = 0; i < plan.writes_gradient.size(); ++i)
    if (plan.writes_gradient[i] == 0) add(model.ops().tensors()[i]);
  return untouched;
}

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
