// MemoryPlan: the steps of a forward or training pass over a model graph, and the memory that each of them uses. The
// Planner (planner.hpp) writes it for any batch size; size_buffers() and place_buffers() then assign addresses for a
// given one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model_graph.hpp"

namespace algoperf {

// A run of memory that is in use from step `first` to step `last`.
struct PlanBuffer {
  GraphIndex axis = examples_axis;
  ElementType type = ElementType::activation;
  LayerMemory elements;  // per row: `kept`, or, of a layer's scratch, `scratch` and `at_once`
  std::size_t first = never, last = 0;
  std::size_t offset = 0, bytes = 0;  // within the arena

  static constexpr std::size_t never = ~std::size_t{0};
  constexpr bool used() const { return first != never; }
  constexpr bool overlaps(const PlanBuffer& other) const { return first <= other.last && other.first <= last; }
};

// The memory that a step reads or writes: nothing, a buffer, or a field of the batch.
struct BufferRef {
  enum class Kind : std::uint8_t { none, buffer, field };
  Kind kind = Kind::none;
  GraphIndex index = no_index;  // of the buffer, or of the field's value

  constexpr bool is_buffer() const { return kind == Kind::buffer; }
  friend constexpr bool operator==(const BufferRef&, const BufferRef&) = default;
};

struct PlanStep {
  // forward, backward: of an op. add: adds the gradient at x to that at y. copy: copies x to y. zero: clears y.
  enum class Kind : std::uint8_t { forward, backward, add, copy, zero };
  Kind kind = Kind::forward;
  GraphIndex op = no_index;     // of forward and backward
  GraphIndex value = no_index;  // of add, copy and zero: the value whose gradient it is
  GraphRange x, y, dx, dy;      // of MemoryPlan::refs, one per input or output
  BufferRef kept, exact, scratch;
  std::uint64_t adds = 0;          // the inputs to whose gradients backward adds
  std::uint64_t adds_tensors = 0;  // the same for its tensors: an earlier step wrote their gradients
};

struct MemoryPlan {
  List<PlanStep> steps;
  std::size_t forward_steps = 0;  // the first steps, which are the forward pass
  List<PlanBuffer> buffers;
  List<BufferRef> refs;
  List<BufferRef> place_of;     // of each value: where the forward pass leaves it
  List<BufferRef> gradient_of;  // of each field: where the backward pass leaves its gradient; none if no loss needs it
  List<char> runs_backward;     // of each op: whether it has a backward step
  List<char> writes_gradient;   // of each shared tensor: whether a step writes its gradient
  std::size_t bytes = 0;        // of the arena
  std::size_t least_bytes = 0;  // the largest sum of the buffers in use at one time, which no placement can undercut

  constexpr std::size_t count(PlanStep::Kind kind) const {
    std::size_t n = 0;
    for (const PlanStep& step : steps) n += step.kind == kind;
    return n;
  }
};

// The sizes that determine the memory of a plan.
struct PlanSizes {
  std::size_t examples = 1;
  std::size_t activation_bytes = 4, parameter_bytes = 4;
  std::size_t scratch = std::size_t{1} << 18;  // the backend's, in elements
};

// Computes the size of every buffer, and least_bytes.
constexpr void size_buffers(MemoryPlan& plan, const ModelGraph& graph, const PlanSizes& sizes) {
  constexpr std::size_t alignment = 64;
  List<std::size_t> in_use(plan.steps.size(), 0);
  for (PlanBuffer& buffer : plan.buffers) {
    if (!buffer.used()) continue;
    const std::size_t rows = sizes.examples * graph.axes[buffer.axis].rows;
    const std::size_t elements = buffer.elements.kept * rows + buffer.elements.scratch_within(sizes.scratch, rows);
    const std::size_t each = buffer.type == ElementType::activation  ? sizes.activation_bytes
                             : buffer.type == ElementType::parameter ? sizes.parameter_bytes
                                                                     : sizeof(std::int32_t);
    buffer.bytes = (elements * each + alignment - 1) / alignment * alignment;
    for (std::size_t step = buffer.first; step <= buffer.last; ++step) in_use[step] += buffer.bytes;
  }
  plan.least_bytes = 0;
  for (const std::size_t bytes : in_use) plan.least_bytes = std::max(plan.least_bytes, bytes);
}

namespace detail {

// Places the buffers in the given order, each at the lowest address at which it overlaps no buffer that is in use at
// the same time. Returns the number of bytes of the arena.
constexpr std::size_t place_in_order(MemoryPlan& plan, const List<GraphIndex>& order) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    PlanBuffer& buffer = plan.buffers[order[i]];
    List<GraphIndex> neighbours;  // placed, and in use at the same time
    for (std::size_t j = 0; j < i; ++j)
      if (buffer.overlaps(plan.buffers[order[j]])) neighbours.push_back(order[j]);
    std::sort(neighbours.begin(), neighbours.end(),
              [&plan](GraphIndex a, GraphIndex b) { return plan.buffers[a].offset < plan.buffers[b].offset; });
    std::size_t offset = 0;
    for (const GraphIndex j : neighbours) {
      const PlanBuffer& neighbour = plan.buffers[j];
      if (offset + buffer.bytes <= neighbour.offset) break;
      offset = std::max(offset, neighbour.offset + neighbour.bytes);
    }
    buffer.offset = offset;
    bytes = std::max(bytes, offset + buffer.bytes);
  }
  return bytes;
}

}  // namespace detail

// Assigns an address to every buffer, after size_buffers(). Buffers that are in use at the same time do not overlap.
// Tries two orders and keeps the one that needs less memory: largest first (Pisarchyk & Lee 2020, arXiv:2001.03288,
// greedy by size), and largest product of size and time in use first.
inline void place_buffers(MemoryPlan& plan) {
  List<GraphIndex> order;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].bytes > 0) order.push_back(static_cast<GraphIndex>(i));
  const auto place = [&plan, &order](auto rank) {
    std::sort(order.begin(), order.end(), [&](GraphIndex a, GraphIndex b) {
      const std::size_t x = rank(plan.buffers[a]), y = rank(plan.buffers[b]);
      return x != y ? x > y : a < b;
    });
    return detail::place_in_order(plan, order);
  };
  const auto bytes = [](const PlanBuffer& buffer) { return buffer.bytes; };
  const auto area = [](const PlanBuffer& buffer) { return buffer.bytes * (buffer.last - buffer.first + 1); };
  const std::size_t by_bytes = place(bytes), by_area = place(area);
  plan.bytes = std::min(by_bytes, by_area);
  if (by_bytes < by_area) place(bytes);
}

}  // namespace algoperf
