// Planner: turns a model graph into the steps of a pass and decides which memory each of them uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "in_place.hpp"
#include "memory_plan.hpp"
#include "op_order.hpp"
#include "reaches_loss.hpp"

namespace algoperf {

struct PlanOptions {
  bool training = true;       // with a backward pass
  bool share = true;          // lets ops work in place and gradients share memory
  bool keeps_values = false;  // each op's inputs and outputs until its backward, also those that backward does not read
  // Plans the ops on this axis after all others, so that they can run several times (op_order.hpp).
  GraphIndex decoded_axis = no_index;
};

// Simulates one pass: all ops forward in the order of the graph, then backward in reverse. A buffer is in use from its
// first access to its last.
//   In place    An op that can work in place writes over its input if nothing reads that later (in_place.hpp). In
//               backward, the gradient of the input takes the memory of the gradient of the output. A view always
//               shares the memory of its input.
//   Fan-out     The first gradient of a value is written, the others are added: by the op itself if its traits say
//               `adds`, else from a temporary buffer. If an op `passes_gradient`, its inputs share the buffer of the
//               output's gradient. The planner counts such references, and copies a buffer before it adds to one that
//               is shared.
class Planner {
 public:
  constexpr Planner(const ModelGraph& graph, const PlanOptions& options)
      : graph_(graph),
        options_(options),
        gradient_of_(graph.values.size(), BufferRef{}),
        kept_(graph.ops.size(), BufferRef{}),
        exact_(graph.ops.size(), BufferRef{}) {}

  ALGOPERF_COLD constexpr MemoryPlan plan() {
    const std::size_t values = graph_.values.size(), ops = graph_.ops.size();
    plan_.place_of = List<BufferRef>(values, BufferRef{});
    plan_.runs_backward = List<GraphIndex>(ops, 0);
    plan_.writes_gradient = List<GraphIndex>(graph_.tensors.size(), 0);
    for (std::size_t v = 0; v < values; ++v)
      if (graph_.values[v].is_field()) plan_.place_of[v] = {BufferRef::Kind::field, index(v)};
    reaches_loss_ = detail::values_that_reach_a_loss(graph_);
    const detail::OpOrder order = detail::order_of_ops(graph_, options_.decoded_axis);
    in_place_ = List<GraphIndex>(ops, 0);
    if (options_.share) in_place_ = detail::ops_in_place(graph_, options_.training, order.ops);
    for (std::size_t i = 0; i < order.first_decoded; ++i) forward(order.ops[i]);
    plan_.steps_before_decoding = plan_.steps.size();
    for (std::size_t i = order.first_decoded; i < ops; ++i) forward(order.ops[i]);
    for (const GraphIndex v : graph_.outputs) {
      // The op whose output's memory it is; a view or an op in place has that of its input.
      for (std::size_t i = 0; i < plan_.steps.size(); ++i)
        for (std::size_t k = 0; k < plan_.steps[i].y.count; ++k)
          if (ref(plan_.steps[i].y, k) == plan_.place_of[v] && i >= plan_.output_steps) plan_.output_steps = i + 1;
      keep_until_now(plan_.place_of[v]);
    }
    for (const Op& op : graph_.ops)
      if (op.loss) keep_until_now(plan_.place_of[graph_.output(op, 0)]);
    plan_.forward_steps = plan_.steps.size();
    detail::keep_for_decoding(plan_);
    if (options_.training)
      for (std::size_t i = ops; i-- > 0;)
        if (on_way_back(graph_.ops[i])) backward(index(i));
    plan_.gradient_of = List<BufferRef>(values, BufferRef{});
    for (std::size_t v = 0; v < values; ++v)
      if (graph_.values[v].is_field()) keep_until_now(plan_.gradient_of[v] = gradient_of_[v]);
    return std::move(plan_);
  }

 private:
  static constexpr GraphIndex index(std::size_t i) { return static_cast<GraphIndex>(i); }
  using Op = ModelGraph::Op;

  constexpr bool on_way_back(const Op& op) const {
    if (!op.trains || op.loss) return false;
    for (std::size_t k = 0; k < op.outputs.count; ++k)
      if (reaches_loss_[graph_.output(op, k)] != 0) return true;
    return false;
  }
  constexpr bool wants_gradient(GraphIndex value) const {
    return graph_.values[value].needs_gradient && reaches_loss_[value] != 0;
  }

  ALGOPERF_COLD constexpr BufferRef new_buffer(GraphIndex axis, ElementType type, const LayerMemory& elements,
                                               bool scratch = false) {
    plan_.buffers.push_back({axis, type, elements, scratch});
    references_.push_back(0);
    return {BufferRef::Kind::buffer, index(plan_.buffers.size() - 1)};
  }
  constexpr BufferRef buffer_like(GraphIndex value) {
    const Value& v = graph_.values[value].value;
    return new_buffer(v.axis, v.type, {.kept = v.shape.size()});
  }
  // Notes that the step that is added next accesses a buffer.
  constexpr void access(const BufferRef& ref) {
    if (!ref.is_buffer()) return;
    PlanBuffer& buffer = plan_.buffers[ref.index];
    if (!buffer.used()) buffer.first = plan_.steps.size();
    buffer.last = plan_.steps.size();
  }
  // Keeps a buffer until the last step so far: the end of the forward or of the backward pass.
  constexpr void keep_until_now(const BufferRef& ref) {
    if (ref.is_buffer() && plan_.buffers[ref.index].used()) plan_.buffers[ref.index].last = plan_.steps.size() - 1;
  }
  constexpr GraphRange new_refs(std::size_t count) {
    const GraphRange range{index(plan_.refs.size()), index(count)};
    for (std::size_t i = 0; i < count; ++i) plan_.refs.push_back({});
    return range;
  }
  constexpr BufferRef& ref(const GraphRange& range, std::size_t k) { return plan_.refs[range.begin + k]; }
  ALGOPERF_COLD constexpr PlanStep step_of(PlanStep::Kind kind, GraphIndex op) {
    PlanStep step;
    step.kind = kind;
    step.op = op;
    step.x = new_refs(graph_.ops[op].inputs.count);
    step.dx = new_refs(graph_.ops[op].inputs.count);
    step.y = new_refs(graph_.ops[op].outputs.count);
    step.dy = new_refs(graph_.ops[op].outputs.count);
    return step;
  }

  ALGOPERF_COLD constexpr void access_own_memory(PlanStep& step) {
    const Op& op = graph_.ops[step.op];
    if (op.inputs.count == 0) return;
    const GraphIndex axis = graph_.values[graph_.input(op, 0)].value.axis;
    const LayerMemory& memory = op.traits.memory;
    if (step.kind == PlanStep::Kind::forward) {
      if (memory.kept > 0) kept_[step.op] = new_buffer(axis, ElementType::activation, {.kept = memory.kept});
      if (memory.exact > 0) exact_[step.op] = new_buffer(axis, ElementType::parameter, {.kept = memory.exact});
    }
    step.kept = kept_[step.op];
    step.exact = exact_[step.op];
    if (memory.scratch > 0 || memory.at_once > 0)
      step.scratch =
          new_buffer(axis, ElementType::activation, {.scratch = memory.scratch, .at_once = memory.at_once}, true);
    if (op.traits.last_input_scratch > 0) {
      const GraphIndex last = graph_.values[graph_.input(op, op.inputs.count - 1)].value.axis;
      step.last_input_scratch = new_buffer(last, ElementType::parameter, {.kept = op.traits.last_input_scratch}, true);
    }
    if (op.traits.example_scratch > 0)
      step.example_scratch =
          new_buffer(examples_axis, ElementType::parameter, {.kept = op.traits.example_scratch}, true);
    for (const BufferRef& memory_of_step :
         {step.kept, step.exact, step.scratch, step.last_input_scratch, step.example_scratch})
      access(memory_of_step);
  }

  ALGOPERF_COLD constexpr void forward(GraphIndex i) {
    const Op& op = graph_.ops[i];
    if (op.traits.view) {
      plan_.place_of[graph_.output(op, 0)] = plan_.place_of[graph_.input(op, 0)];
      return;
    }
    PlanStep step = step_of(PlanStep::Kind::forward, i);
    for (std::size_t k = 0; k < op.inputs.count; ++k) access(ref(step.x, k) = plan_.place_of[graph_.input(op, k)]);
    for (std::size_t k = 0; k < op.outputs.count; ++k) {
      const GraphIndex y = graph_.output(op, k);
      const bool shares = k == 0 && in_place_[i] != 0;
      plan_.place_of[y] = shares ? plan_.place_of[graph_.input(op, op.traits.in_place)] : buffer_like(y);
      access(ref(step.y, k) = plan_.place_of[y]);
    }
    List<BufferRef> further(op.inputs.count, BufferRef{});
    if (op.loss && options_.training)
      for (std::size_t k = 0; k < op.inputs.count; ++k) write_gradient(step, k, graph_.input(op, k), further);
    access_own_memory(step);
    plan_.steps.push_back(step);
    for (std::size_t k = 0; k < op.inputs.count; ++k)
      if (further[k].is_buffer()) add_gradient(graph_.input(op, k), further[k], true);
  }

  // Gives the step a new buffer for the gradient of input k: the value's gradient if it has none yet, else a further
  // one, which must be added.
  ALGOPERF_COLD constexpr void write_gradient(PlanStep& step, std::size_t k, GraphIndex value,
                                              List<BufferRef>& further) {
    if (!wants_gradient(value)) return;
    const BufferRef buffer = buffer_like(value);
    access(ref(step.dx, k) = buffer);
    if (gradient_of_[value].is_buffer())
      further[k] = buffer;
    else
      set_gradient(value, buffer);
  }
  constexpr void set_gradient(GraphIndex value, const BufferRef& buffer) {
    gradient_of_[value] = buffer;
    ++references_[buffer.index];
  }
  constexpr bool shared(const BufferRef& buffer) const { return references_[buffer.index] > 1; }

  ALGOPERF_COLD constexpr void gradient_step(PlanStep::Kind kind, GraphIndex value, const BufferRef& x,
                                             const BufferRef& y) {
    PlanStep step;
    step.kind = kind;
    step.value = value;
    step.x = new_refs(1);
    step.y = new_refs(1);
    access(ref(step.x, 0) = x);
    access(ref(step.y, 0) = y);
    plan_.steps.push_back(step);
  }
  // Adds a further gradient to that of `value`. own: nothing else reads `buffer`, so the sum may be written there.
  ALGOPERF_COLD constexpr void add_gradient(GraphIndex value, const BufferRef& buffer, bool own) {
    const BufferRef sum = gradient_of_[value];
    if (!shared(sum)) return gradient_step(PlanStep::Kind::add, value, buffer, sum);
    --references_[sum.index];
    if (own) {
      set_gradient(value, buffer);
      return gradient_step(PlanStep::Kind::add, value, sum, buffer);
    }
    const BufferRef copy = buffer_like(value);
    set_gradient(value, copy);
    gradient_step(PlanStep::Kind::copy, value, sum, copy);
    gradient_step(PlanStep::Kind::add, value, buffer, copy);
  }

  ALGOPERF_COLD constexpr void backward(GraphIndex i) {
    const Op& op = graph_.ops[i];
    plan_.runs_backward[i] = 1;
    for (std::size_t k = 0; k < op.outputs.count; ++k) {
      const GraphIndex y = graph_.output(op, k);
      if (gradient_of_[y].is_buffer()) continue;  // else no loss depends on this output
      set_gradient(y, buffer_like(y));
      gradient_step(PlanStep::Kind::zero, y, {}, gradient_of_[y]);
    }
    const BufferRef gradient = gradient_of_[graph_.output(op, 0)];
    if (op.traits.view || (op.traits.passes_gradient && options_.share)) {
      for (std::size_t k = 0; k < op.inputs.count; ++k) {
        const GraphIndex x = graph_.input(op, k);
        if (!wants_gradient(x)) continue;
        if (gradient_of_[x].is_buffer())
          add_gradient(x, gradient, false);
        else
          set_gradient(x, gradient);
      }
      --references_[gradient.index];
      return;
    }
    PlanStep step = step_of(PlanStep::Kind::backward, i);
    for (std::size_t k = 0; k < op.inputs.count; ++k) {
      ref(step.x, k) = plan_.place_of[graph_.input(op, k)];
      if (options_.keeps_values || detail::has_bit(op.traits.reads_inputs, k)) access(ref(step.x, k));
    }
    for (std::size_t k = 0; k < op.outputs.count; ++k) {
      ref(step.y, k) = plan_.place_of[graph_.output(op, k)];
      if (options_.keeps_values || detail::has_bit(op.traits.reads_outputs, k)) access(ref(step.y, k));
      access(ref(step.dy, k) = gradient_of_[graph_.output(op, k)]);
    }
    List<BufferRef> further(op.inputs.count, BufferRef{});
    bool taken = false;  // the memory of the output's gradient
    for (std::size_t k = 0; k < op.inputs.count; ++k) {
      const GraphIndex x = graph_.input(op, k);
      if (!wants_gradient(x)) continue;
      const BufferRef sum = gradient_of_[x];
      if (sum.is_buffer() && op.traits.adds && !shared(sum) && !writes_to(step, k, sum)) {
        access(ref(step.dx, k) = sum);
        step.adds |= std::uint64_t{1} << k;
      } else if (options_.share && op.traits.in_place == k && !taken && !shared(gradient)) {
        taken = true;
        ref(step.dx, k) = gradient;
        if (sum.is_buffer())
          further[k] = gradient;
        else
          set_gradient(x, gradient);
      } else {
        write_gradient(step, k, x, further);
      }
    }
    for (std::size_t k = 0; k < op.uses.count; ++k) {
      GraphIndex& written = plan_.writes_gradient[graph_.tensor(op, k)];
      if (written != 0) step.adds_tensors |= std::uint64_t{1} << k;
      written = 1;
    }
    access_own_memory(step);
    plan_.steps.push_back(step);
    for (std::size_t k = 0; k < op.inputs.count; ++k)
      if (further[k].is_buffer()) add_gradient(graph_.input(op, k), further[k], true);
    for (std::size_t k = 0; k < op.outputs.count; ++k) --references_[ref(step.dy, k).index];
  }
  // Returns whether the step writes to a buffer as the gradient of an input before k.
  constexpr bool writes_to(const PlanStep& step, std::size_t k, const BufferRef& buffer) {
    for (std::size_t j = 0; j < k; ++j)
      if (ref(step.dx, j) == buffer) return true;
    return false;
  }

  const ModelGraph& graph_;
  PlanOptions options_;
  MemoryPlan plan_;
  List<BufferRef> gradient_of_;    // of each value
  List<GraphIndex> references_;    // of each buffer: how many values have it as their gradient
  List<BufferRef> kept_, exact_;   // of each op
  List<GraphIndex> reaches_loss_;  // of each value
  List<GraphIndex> in_place_;      // of each op
};

}  // namespace algoperf
