// GraphExecutor: runs a recorded model's forward and backward passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../../core/example_rows.hpp"
#include "../../core/map_kernels.hpp"
#include "clear_gradients.hpp"
#include "graph_pass.hpp"
#include "pass_calls.hpp"
#include "planner.hpp"
#include "recorded_model.hpp"

namespace algoperf {

struct ExecutorOptions {
  bool training = true;                // allocates memory for passes in mode `train`
  bool share_memory = true;            // PlanOptions::share
  bool keeps_values = false;           // PlanOptions::keeps_values
  GraphIndex decoded_axis = no_index;  // PlanOptions::decoded_axis; not with `training`
};

// Allocates memory for batches of up to `capacity` examples. A pass allocates nothing, except inside matrix products
// and convolutions, and unless a ragged axis has more rows than ever before: the memory then grows to a quarter more
// than these rows need.
// Long members are defined outside of the class, so that algoperf::gemm can contain them (compiled.hpp).
// Cost: about 0.1 us per op and step in addition to what the op computes.
template <class B>
class GraphExecutor {
  using Scalar = typename B::Scalar;
  using S = Stored<B>;

 public:
  GraphExecutor(const B& backend, const RecordedModel<B>& model, std::size_t capacity,
                const ExecutorOptions& options = {});
  GraphExecutor(const GraphExecutor&) = delete;
  GraphExecutor& operator=(const GraphExecutor&) = delete;

  std::size_t capacity() const { return capacity_; }
  // Ragged axes have no rows in the plan before the first pass.
  const MemoryPlan& plan(Mode mode = Mode::train) const { return pass_of(mode).plan; }

  // Sets the memory of a field, or of the losses of a loss: rows x shape elements, in the backend's memory. It must
  // stay valid during passes. Losses that are not bound stay in the executor's memory.
  void bind(const Value& value, const void* data);

  // Sets which rows on a ragged axis belong to each example of the following passes. The arrays in `rows` must stay
  // valid. Throws Error unless the axis is ragged.
  void bind_rows(GraphIndex axis, const AxisRows& rows);

  // Computes all values of the model, or those up to the last value that it keeps.
  void forward(const GraphPass<B>& pass) { run_first(pass, pass_of(pass.mode).plan.forward_steps); }
  void forward_to_outputs(const GraphPass<B>& pass) { run_first(pass, pass_of(pass.mode).plan.output_steps); }
  // Requires ExecutorOptions::decoded_axis. Computes the values off this axis, and makes room for steps of decoding
  // with up to `rows` rows.
  void forward_before_decoding(const GraphPass<B>& pass, std::size_t rows) {
    require(decoded_axis_ != no_index, "GraphExecutor: it was made without a decoded axis");
    rows_[decoded_axis_] = {rows, 1, 0, {1}};
    run_first(pass, pass_of(pass.mode).plan.steps_before_decoding);
  }
  // Follows forward_before_decoding(), any number of times: computes the outputs of a step of decoding, which has these
  // rows on the decoded axis. pass.decoding holds what the ops keep.
  void decode(const GraphPass<B>& pass, const AxisRows& rows) {
    rows_[decoded_axis_] = rows;
    const MemoryPlan& plan = pass_of(pass.mode).plan;
    run(pass, plan.steps_before_decoding, plan.output_steps);
  }
  // Follows forward() with the same arguments, in mode `train`. Ops may overwrite what forward() kept, so each call
  // needs a forward() of its own.
  void backward(const GraphPass<B>& pass);
  // Returns where the last forward pass in this mode left a value that the model keeps, or losses. Valid until the next
  // pass in any mode, since the modes share memory. T is the type that belongs to value.type.
  template <class T = S>
  const T* result(const Value& value, Mode mode = Mode::train) const {
    return static_cast<const T*>(memory_of(value, mode));
  }
  // Returns where the last backward pass left the gradient of a field, or null if no loss depends on it.
  const S* field_gradient(const Value& field) const {
    return static_cast<const S*>(address(training_, training_.plan.gradient_of[field.index]));
  }

 private:
  using Pass = detail::PassCalls<B>;

  const ModelGraph& graph() const { return model_.graph(); }
  const Layout& layout() const { return model_.layout(); }
  const Pass& pass_of(Mode mode) const { return mode == Mode::train ? training_ : evaluation_; }
  Pass& pass_of(Mode mode) { return mode == Mode::train ? training_ : evaluation_; }

  const void* address(const Pass& pass, const BufferRef& ref) const {
    return pass.address(const_cast<char*>(arena_.data()), ref);
  }
  const void* memory_of(const Value& value, Mode mode) const;
  void allocate(const PlanSizes& sizes);
  void run_first(const GraphPass<B>& pass, std::size_t end);
  void find_rows(const GraphPass<B>& pass);
  bool has_no_outputs(const ModelGraph::Op& op) const;
  void run(const GraphPass<B>& pass, std::size_t begin, std::size_t end);
  void run_gradient_step(const PlanStep& step, const OpCall<B>& call) const;

  B backend_;
  const RecordedModel<B>& model_;
  std::size_t capacity_;
  GraphIndex decoded_axis_;
  bool ragged_;
  PlanSizes sizes_;
  List<AxisRows> rows_;  // of each axis, in the current pass
  Pass evaluation_, training_;
  List<RandomKey> keys_;     // of each scope
  List<const void*> bound_;  // of each value: what bind() was given
  List<TensorHandle> untouched_;
  typename B::template Array<char> arena_;
  typename B::template Array<S> rounded_;
};

template <class B>
ALGOPERF_COLD GraphExecutor<B>::GraphExecutor(const B& backend, const RecordedModel<B>& model, std::size_t capacity,
                                              const ExecutorOptions& options)
    : backend_(backend),
      model_(model),
      capacity_(capacity),
      decoded_axis_(options.decoded_axis),
      ragged_(graph().is_ragged()),
      rows_(graph().axes.size(), AxisRows{}),
      keys_(graph().scopes.size(), RandomKey{}),
      bound_(graph().values.size(), nullptr) {
  sizes_.examples = capacity;
  sizes_.ragged_rows = List<std::size_t>(graph().axes.size(), 0);
  sizes_.decoded_axis = decoded_axis_;
  sizes_.activation_bytes = sizeof(S);
  sizes_.parameter_bytes = sizeof(Scalar);
  sizes_.scratch = backend_.scratch;
  for (Pass* const pass : {&evaluation_, &training_}) {
    PlanOptions how;
    how.training = pass == &training_;
    how.share = options.share_memory;
    how.keeps_values = options.keeps_values;
    how.decoded_axis = options.decoded_axis;
    if (how.training && !options.training) continue;
    pass->plan = Planner(graph(), how).plan();
    pass->prepare(backend_, model_, rows_.begin());
  }
  allocate(sizes_);
  if (options.training) untouched_ = detail::untouched_tensors(model_, training_.plan);
}

template <class B>
void GraphExecutor<B>::bind(const Value& value, const void* data) {
  bound_[value.index] = data;
  for (Pass* const pass : {&evaluation_, &training_}) pass->bind(value.index, const_cast<void*>(data));
}

template <class B>
void GraphExecutor<B>::bind_rows(GraphIndex axis, const AxisRows& rows) {
  detail::check_bound_rows(graph().axes[axis], rows);
  rows_[axis] = rows;
}

template <class B>
void GraphExecutor<B>::backward(const GraphPass<B>& pass) {
  require(!training_.calls.empty(), "GraphExecutor: it was made without memory for training");
  for (const TensorHandle handle : untouched_)
    backend_.fill(layout().place_of(handle).size, pass.gradients + layout().place_of(handle).offset, Scalar(0));
  run(pass, training_.plan.forward_steps, training_.plan.steps.size());
}

template <class B>
const void* GraphExecutor<B>::memory_of(const Value& value, Mode mode) const {
  const BufferRef& place = pass_of(mode).plan.place_of[value.index];
  const void* const bound = bound_[place.kind == BufferRef::Kind::field ? place.index : value.index];
  return bound != nullptr ? bound : address(pass_of(mode), place);
}

// Allocates the memory of all passes.
template <class B>
ALGOPERF_COLD void GraphExecutor<B>::allocate(const PlanSizes& sizes) {
  std::size_t bytes = 0;
  for (Pass* const pass : {&evaluation_, &training_}) {
    size_buffers(pass->plan, graph(), sizes);
    place_buffers(pass->plan);
    bytes = math::max(bytes, pass->plan.bytes);
  }
  arena_ = backend_.template array<char>(bytes);
  sizes_ = sizes;
  for (Pass* const pass : {&evaluation_, &training_}) {
    pass->place(arena_.data(), graph(), sizes_);
    for (std::size_t v = 0; v < bound_.size(); ++v)
      if (bound_[v] != nullptr) pass->bind(static_cast<GraphIndex>(v), const_cast<void*>(bound_[v]));
  }
}

// Counts the rows of a pass on every axis, and lets the memory grow if a ragged axis has more than it holds.
template <class B>
void GraphExecutor<B>::find_rows(const GraphPass<B>& pass) {
  bool grows = false;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    AxisRows& rows = rows_[i];
    if (const Axis& axis = graph().axes[i]; !axis.ragged && i != decoded_axis_) {
      rows = {pass.examples * axis.rows, axis.rows, pass.first * axis.rows, {axis.rows}};
      continue;
    }
    require(i == decoded_axis_ || rows.rows.begins != nullptr,
            "GraphExecutor: bind_rows() was not called for the ragged axis '", graph().axes[i].name, "'");
    grows = grows || rows.count > sizes_.ragged_rows[i];
  }
  if (!grows) return;
  List<std::size_t> needed = sizes_.ragged_rows;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    sizes_.ragged_rows[i] = 0;  // what the memory holds if the allocation fails
    if (rows_[i].count > needed[i]) needed[i] = rows_[i].count + (i == decoded_axis_ ? 0 : rows_[i].count / 4);
  }
  arena_ = typename B::template Array<char>();
  PlanSizes sizes = sizes_;
  sizes.ragged_rows = needed;
  allocate(sizes);
}

// Runs the first steps of a forward pass, up to `end`. Before them, it counts rows and rounds the parameters to the
// activations' type, in which matrix products read them.
template <class B>
void GraphExecutor<B>::run_first(const GraphPass<B>& pass, std::size_t end) {
  require(pass.examples > 0 && pass.examples <= capacity_, "GraphExecutor: the batch has ", pass.examples,
          " examples, expected 1 to ", capacity_, ", its capacity");
  require(!pass_of(pass.mode).calls.empty(), "GraphExecutor: it was made without memory for training");
  find_rows(pass);
  if constexpr (!std::is_same_v<S, Scalar>) {
    if (rounded_.size() < layout().size()) rounded_ = backend_.template array<S>(layout().size());
    backend_.map(Assign{}, layout().size(), rounded_.data(), pass.values);
  }
  run(pass, 0, end);
}

// Runs steps [begin, end) of the plan.
template <class B>
void GraphExecutor<B>::run(const GraphPass<B>& pass, std::size_t begin, std::size_t end) {
  // A part's key depends only on its place and on the places of the blocks around it.
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const ModelGraph::Scope& scope = graph().scopes[i];
    keys_[i] = scope.parent == no_index ? pass.key : keys_[scope.parent].fold(scope.place);
  }
  Pass& own = pass_of(pass.mode);
  for (std::size_t i = begin; i < end; ++i) {
    const PlanStep& step = own.plan.steps[i];
    OpCall<B>& call = own.calls[i];
    if (step.op == no_index) {
      run_gradient_step(step, call);
      continue;
    }
    const ModelGraph::Op& op = *call.op;
    const AxisRows& rows = rows_[graph().axis_of(op)];
    call.examples = pass.examples;
    call.weights = pass.weights;
    call.decoding = pass.decoding == nullptr ? nullptr : pass.decoding + step.op;
    call.pass.values = pass.values;
    call.pass.gradients = pass.gradients;
    call.pass.batch = rows.count;
    call.pass.first = rows.first;
    call.pass.mode = op.fixed ? Mode::evaluate : pass.mode;
    call.pass.key = keys_[op.scope].fold(op.place);
    if constexpr (!std::is_same_v<S, Scalar>) call.pass.rounded = rounded_.data();
    if (ragged_ && has_no_outputs(op)) {
      detail::clear_gradients(model_, step, call);
      continue;
    }
    if (step.kind == PlanStep::Kind::forward) {
      model_.ops().op(step.op)->forward(call);
      continue;
    }
    if (pass.observer != nullptr) pass.observer->before_backward(step.op, call);
    model_.ops().op(step.op)->backward(call);
  }
}

// Returns whether the outputs of an op have no rows in this pass.
template <class B>
bool GraphExecutor<B>::has_no_outputs(const ModelGraph::Op& op) const {
  for (std::size_t k = 0; k < op.outputs.count; ++k)
    if (rows_[graph().values[graph().output(op, k)].value.axis].count > 0) return false;
  return true;
}

template <class B>
void GraphExecutor<B>::run_gradient_step(const PlanStep& step, const OpCall<B>& call) const {
  const Value& value = graph().values[step.value].value;
  const std::size_t n = rows_[value.axis].count * value.shape.size();
  const bool reads = step.kind != PlanStep::Kind::zero;
  model_.gradient_step()(backend_, step.kind, n, reads ? call.in(0) : nullptr, call.out());
}

}  // namespace algoperf
