// MemoryPlan: the steps of a forward or training pass over a model graph, and the memory that each of them uses. The
// Planner (planner.hpp) writes it for any batch size; size_buffers() and place_buffers() then assign addresses for a
// given one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../core/element_count.hpp"
#include "../../core/error.hpp"
#include "model_graph.hpp"

namespace algoperf {

// A run of memory that is in use from step `first` to step `last`.
struct PlanBuffer {
  GraphIndex axis = examples_axis;
  ElementType type = ElementType::activation;
  LayerMemory elements;  // per row: `kept`, or, of a layer's scratch, `scratch` and `at_once`
  bool scratch = false;  // whether an op uses it within one step only
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
  BufferRef kept, exact, scratch, last_input_scratch, example_scratch;
  std::uint64_t adds = 0;          // the inputs to whose gradients backward adds
  std::uint64_t adds_tensors = 0;  // the same for its tensors: an earlier step wrote their gradients
};

struct MemoryPlan {
  List<PlanStep> steps;
  std::size_t forward_steps = 0;          // the number of leading steps that are the forward pass
  std::size_t output_steps = 0;           // the number of leading steps that compute all kept values
  std::size_t steps_before_decoding = 0;  // the number of leading steps that do not lie on the decoded axis
  List<PlanBuffer> buffers;
  List<BufferRef> refs;
  List<BufferRef> place_of;     // of each value: where the forward pass leaves it
  List<BufferRef> gradient_of;  // of each field: where the backward pass leaves its gradient; none if no loss needs it
  List<GraphIndex> runs_backward;    // of each op: whether it has a backward step
  List<GraphIndex> writes_gradient;  // of each shared tensor: whether a step writes its gradient
  std::size_t bytes = 0;             // of the arena
  std::size_t least_bytes = 0;  // the largest sum of the buffers in use at one time, which no placement can undercut
};

// The sizes that determine the memory of a plan.
struct PlanSizes {
  std::size_t examples = 1;
  // Of each axis, if it is ragged or the decoded one: all rows. Empty: as many as Axis::rows says.
  List<std::size_t> ragged_rows = {};
  GraphIndex decoded_axis = no_index;
  std::size_t activation_bytes = 4, parameter_bytes = 4;
  std::size_t scratch = std::size_t{1} << 18;  // the backend's, in elements

  constexpr std::size_t rows_on(const ModelGraph& graph, GraphIndex axis) const {
    if ((graph.axes[axis].ragged || axis == decoded_axis) && ragged_rows.size() > 0) return ragged_rows[axis];
    return element_count(examples, graph.axes[axis].rows);
  }
};

// Computes the size of every buffer, and least_bytes. Throws OutOfMemory if a buffer has 2^48 elements or more.
ALGOPERF_COLD constexpr void size_buffers(MemoryPlan& plan, const ModelGraph& graph, const PlanSizes& sizes) {
  constexpr std::size_t alignment = 64;
  List<std::size_t> taken(plan.steps.size() + 1, 0), given_back(plan.steps.size() + 1, 0);
  for (PlanBuffer& buffer : plan.buffers) {
    if (!buffer.used()) continue;
    const std::size_t rows = sizes.rows_on(graph, buffer.axis);
    const std::size_t elements =
        element_count(buffer.elements.kept, rows) + buffer.elements.scratch_within(sizes.scratch, rows);
    const std::size_t each = buffer.type == ElementType::activation  ? sizes.activation_bytes
                             : buffer.type == ElementType::parameter ? sizes.parameter_bytes
                                                                     : sizeof(std::int32_t);
    if (elements >= max_elements) fail_to_allocate(max_elements, each);
    buffer.bytes = (elements * each + alignment - 1) / alignment * alignment;
    taken[buffer.first] += buffer.bytes;
    given_back[buffer.last + 1] += buffer.bytes;
  }
  std::size_t in_use = 0;
  plan.least_bytes = 0;
  for (std::size_t step = 0; step < taken.size(); ++step) {
    in_use += taken[step] - given_back[step];
    if (in_use > plan.least_bytes) plan.least_bytes = in_use;
  }
}

namespace detail {

// Places the buffers one after the other, each at the lowest address where it overlaps no buffer that is in use at the
// same time. The next buffer is the largest or, by_area, the one with the largest product of size and time in use.
// Returns the number of bytes of the arena.
ALGOPERF_COLD constexpr std::size_t place_largest_first(MemoryPlan& plan, bool by_area) {
  List<GraphIndex> placed;  // by offset
  List<GraphIndex> waits(plan.buffers.size(), 1);
  std::size_t bytes = 0;
  for (;;) {
    GraphIndex next = no_index;
    std::size_t largest = 0;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const PlanBuffer& buffer = plan.buffers[i];
      const std::size_t size = by_area ? buffer.bytes * (buffer.last - buffer.first + 1) : buffer.bytes;
      if (waits[i] == 0 || size <= largest) continue;
      next = static_cast<GraphIndex>(i);
      largest = size;
    }
    if (next == no_index) return bytes;
    waits[next] = 0;
    PlanBuffer& buffer = plan.buffers[next];
    std::size_t offset = 0;
    for (const GraphIndex i : placed) {
      const PlanBuffer& other = plan.buffers[i];
      if (!buffer.overlaps(other)) continue;
      if (offset + buffer.bytes <= other.offset) break;
      if (other.offset + other.bytes > offset) offset = other.offset + other.bytes;
    }
    buffer.offset = offset;
    if (offset + buffer.bytes > bytes) bytes = offset + buffer.bytes;
    placed.push_back(next);
    for (std::size_t i = placed.size() - 1; i > 0 && plan.buffers[placed[i - 1]].offset > offset; --i)
      std::swap(placed[i - 1], placed[i]);
  }
}

}  // namespace detail

// Assigns an address to every buffer, after size_buffers(). Buffers that are in use at the same time do not overlap.
// Tries two orders and keeps the one that needs less memory: largest first (Pisarchyk & Lee 2020, arXiv:2001.03288,
// greedy by size), and largest product of size and time in use first. Cost: quadratic in the number of buffers.
ALGOPERF_COLD constexpr void place_buffers(MemoryPlan& plan) {
  const std::size_t by_size = detail::place_largest_first(plan, false);
  plan.bytes = detail::place_largest_first(plan, true);
  if (by_size < plan.bytes) plan.bytes = detail::place_largest_first(plan, false);
}

}  // namespace algoperf
