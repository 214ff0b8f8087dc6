// PassCalls: the steps of a plan as calls of a model's ops, with the addresses of their memory.
#pragma once

#include <cstddef>
#include <vector>

#include "memory_plan.hpp"
#include "recorded_model.hpp"

namespace algoperf::detail {

// The arguments of a call that differ from pass to pass are set by the GraphExecutor when it runs the pass.
template <class B>
struct PassCalls {
  // A pointer to memory that the executor's user provides.
  struct Binding {
    std::size_t pointer = 0;
    GraphIndex value = no_index;
  };

  MemoryPlan plan;
  List<void*> pointers;  // of the plan's refs
  List<Binding> bindings;
  std::vector<OpCall<B>> calls;  // of the plan's steps

  // Makes the calls of `plan`, without the addresses of memory. rows: of each axis, in the current pass.
  void prepare(const B& backend, const RecordedModel<B>& model, const AxisRows* rows);
  // Writes the addresses within the arena to the calls.
  void place(char* arena, const ModelGraph& graph, const PlanSizes& sizes);
  // Sets the memory of a field or of losses.
  void bind(GraphIndex value, void* data) {
    for (const Binding& binding : bindings)
      if (binding.value == value) pointers[binding.pointer] = data;
  }
  // Returns the address of a buffer that the plan uses, or null.
  void* address(char* arena, const BufferRef& ref) const {
    return ref.is_buffer() && plan.buffers[ref.index].used() ? arena + plan.buffers[ref.index].offset : nullptr;
  }
};

template <class B>
ALGOPERF_COLD void PassCalls<B>::prepare(const B& backend, const RecordedModel<B>& model, const AxisRows* rows) {
  const ModelGraph& graph = model.graph();
  pointers = List<void*>(plan.refs.size(), nullptr);
  for (std::size_t i = 0; i < plan.refs.size(); ++i)
    if (plan.refs[i].kind == BufferRef::Kind::field) bindings.push_back({i, plan.refs[i].index});
  for (const PlanStep& step : plan.steps) {
    const ModelGraph::Op* const op = step.op == no_index ? nullptr : &graph.ops[step.op];
    OpCall<B> call{{.backend = backend, .layout = model.layout()}, &graph, op, model.ops().tensors().data(), rows};
    call.x = pointers.begin() + step.x.begin;
    call.y = pointers.begin() + step.y.begin;
    call.dx = pointers.begin() + step.dx.begin;
    call.dy = pointers.begin() + step.dy.begin;
    call.adds = step.adds;
    call.adds_tensors = step.adds_tensors;
    calls.push_back(call);
    if (op != nullptr && op->loss) bindings.push_back({step.y.begin, graph.output(*op, 0)});
  }
}

template <class B>
ALGOPERF_COLD void PassCalls<B>::place(char* arena, const ModelGraph& graph, const PlanSizes& sizes) {
  for (std::size_t i = 0; i < plan.refs.size(); ++i) pointers[i] = address(arena, plan.refs[i]);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    OpCall<B>& call = calls[i];
    if (call.op != nullptr) call.pass.capacity = sizes.rows_on(graph, graph.axis_of(*call.op));
    call.pass.kept = static_cast<Stored<B>*>(address(arena, step.kept));
    call.pass.scratch = static_cast<Stored<B>*>(address(arena, step.scratch));
    call.pass.exact = static_cast<typename B::Scalar*>(address(arena, step.exact));
    call.last_input_scratch = static_cast<typename B::Scalar*>(address(arena, step.last_input_scratch));
    call.example_scratch = static_cast<typename B::Scalar*>(address(arena, step.example_scratch));
  }
}

}  // namespace algoperf::detail
