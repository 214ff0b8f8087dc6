// GraphExecutor: runs a recorded model's forward and backward passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../../core/map_kernels.hpp"
#include "planner.hpp"
#include "recorded_model.hpp"

namespace algoperf {

// The arguments of a pass over the batch whose fields are bound.
template <class B>
struct GraphPass {
  const typename B::Scalar* values = nullptr;  // of the parameters, with the model's layout
  typename B::Scalar* gradients = nullptr;     // null if backward is not called
  std::size_t examples = 0;                    // at most the executor's capacity
  Mode mode = Mode::train;
  RandomKey key = {};
  std::size_t first = 0;                        // index of the first example within the step's batch
  const typename B::Scalar* weights = nullptr;  // one per row of the losses; null if backward is not called
};

struct ExecutorOptions {
  bool training = true;      // allocates memory for passes in mode `train`
  bool share_memory = true;  // PlanOptions::share
};

// Allocates memory for batches of up to `capacity` examples. A pass allocates nothing, except inside matrix products
// and convolutions.
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
  const MemoryPlan& plan(Mode mode = Mode::train) const { return pass_of(mode).plan; }

  // Sets the memory of a field, or of the losses of a loss: rows x shape elements, in the backend's memory. It must
  // stay valid during passes. Losses that are not bound stay in the executor's memory.
  void bind(const Value& value, const void* data);

  // Computes all values of the model, or those up to the last value that it keeps.
  void forward(const GraphPass<B>& pass) { run(pass, 0, pass_of(pass.mode).plan.forward_steps); }
  void forward_to_outputs(const GraphPass<B>& pass) { run(pass, 0, pass_of(pass.mode).plan.output_steps); }
  // Follows forward() with the same arguments, in mode `train`.
  void backward(const GraphPass<B>& pass);
  // Returns where the last forward pass in this mode left a value that the model keeps, or losses. Valid until the next
  // pass in any mode, since the modes share memory. T is the type that belongs to value.type.
  template <class T = S>
  const T* result(const Value& value, Mode mode = Mode::train) const {
    return static_cast<const T*>(memory_of(value, mode));
  }
  // Returns where the last backward pass left the gradient of a field, or null if no loss depends on it.
  const S* field_gradient(const Value& field) const {
    return static_cast<const S*>(pointer(training_.plan, training_.plan.gradient_of[field.index]));
  }

 private:
  // A pointer of a pass that bind() sets.
  struct Binding {
    std::size_t pointer = 0;
    GraphIndex value = no_index;
  };
  struct Pass {
    MemoryPlan plan;
    List<void*> pointers;  // of the plan's refs
    List<Binding> bindings;
    std::vector<OpCall<B>> calls;  // of the plan's steps
  };

  const ModelGraph& graph() const { return model_.graph(); }
  const Layout& layout() const { return model_.layout(); }
  const Pass& pass_of(Mode mode) const { return mode == Mode::train ? training_ : evaluation_; }
  Pass& pass_of(Mode mode) { return mode == Mode::train ? training_ : evaluation_; }

  void* pointer(const MemoryPlan& plan, const BufferRef& ref) const;
  const void* memory_of(const Value& value, Mode mode) const;
  std::size_t rows_of(const ModelGraph::Op& op) const;
  void prepare(Pass& pass);
  void find_untouched();
  void run(const GraphPass<B>& pass, std::size_t begin, std::size_t end);
  void run_gradient_step(const PlanStep& step, const OpCall<B>& call, std::size_t examples) const;

  B backend_;
  const RecordedModel<B>& model_;
  std::size_t capacity_;
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
      keys_(graph().scopes.size(), RandomKey{}),
      bound_(graph().values.size(), nullptr) {
  PlanSizes sizes;
  sizes.examples = capacity;
  sizes.activation_bytes = sizeof(S);
  sizes.parameter_bytes = sizeof(Scalar);
  sizes.scratch = backend_.scratch;
  std::size_t bytes = 0;
  for (Pass* const pass : {&evaluation_, &training_}) {
    PlanOptions how;
    how.training = pass == &training_;
    how.share = options.share_memory;
    if (how.training && !options.training) continue;
    pass->plan = Planner(graph(), how).plan();
    size_buffers(pass->plan, graph(), sizes);
    place_buffers(pass->plan);
    bytes = math::max(bytes, pass->plan.bytes);
  }
  arena_ = backend_.template array<char>(bytes);
  prepare(evaluation_);
  prepare(training_);
  if (options.training) find_untouched();
}

template <class B>
void GraphExecutor<B>::bind(const Value& value, const void* data) {
  bound_[value.index] = data;
  for (Pass* const pass : {&evaluation_, &training_})
    for (const Binding& binding : pass->bindings)
      if (binding.value == value.index) pass->pointers[binding.pointer] = const_cast<void*>(data);
}

template <class B>
void GraphExecutor<B>::backward(const GraphPass<B>& pass) {
  for (const TensorHandle handle : untouched_)
    backend_.fill(layout().place_of(handle).size, pass.gradients + layout().place_of(handle).offset, Scalar(0));
  run(pass, training_.plan.forward_steps, training_.plan.steps.size());
}

template <class B>
void* GraphExecutor<B>::pointer(const MemoryPlan& plan, const BufferRef& ref) const {
  if (!ref.is_buffer() || !plan.buffers[ref.index].used()) return nullptr;
  return const_cast<char*>(arena_.data()) + plan.buffers[ref.index].offset;
}

template <class B>
const void* GraphExecutor<B>::memory_of(const Value& value, Mode mode) const {
  const BufferRef& place = pass_of(mode).plan.place_of[value.index];
  const void* const bound = bound_[place.kind == BufferRef::Kind::field ? place.index : value.index];
  return bound != nullptr ? bound : pointer(pass_of(mode).plan, place);
}

// Returns the number of rows per example of an op's first input.
template <class B>
std::size_t GraphExecutor<B>::rows_of(const ModelGraph::Op& op) const {
  return op.inputs.count == 0 ? 1 : graph().axes[graph().values[graph().input(op, 0)].value.axis].rows;
}

template <class B>
ALGOPERF_COLD void GraphExecutor<B>::prepare(Pass& pass) {
  const MemoryPlan& plan = pass.plan;
  pass.pointers.reserve(plan.refs.size());
  for (const BufferRef& ref : plan.refs) {
    if (ref.kind == BufferRef::Kind::field) pass.bindings.push_back({pass.pointers.size(), ref.index});
    pass.pointers.push_back(pointer(plan, ref));
  }
  for (const PlanStep& step : plan.steps) {
    const bool of_op = step.op != no_index;
    LayerCall<B> layer{backend_,
                       layout(),
                       nullptr,
                       nullptr,
                       0,
                       of_op ? capacity_ * rows_of(graph().ops[step.op]) : 0,
                       Mode::train,
                       {},
                       static_cast<S*>(pointer(plan, step.kept)),
                       static_cast<S*>(pointer(plan, step.scratch)),
                       static_cast<Scalar*>(pointer(plan, step.exact))};
    OpCall<B> call{layer, &graph(), of_op ? &graph().ops[step.op] : nullptr, model_.ops().tensors().data()};
    call.x = pass.pointers.begin() + step.x.begin;
    call.y = pass.pointers.begin() + step.y.begin;
    call.dx = pass.pointers.begin() + step.dx.begin;
    call.dy = pass.pointers.begin() + step.dy.begin;
    call.adds = step.adds;
    call.adds_tensors = step.adds_tensors;
    pass.calls.push_back(call);
    if (of_op && graph().ops[step.op].loss)
      pass.bindings.push_back({step.y.begin, graph().output(graph().ops[step.op], 0)});
  }
}

// Finds the tensors whose gradient no step writes, because no loss depends on them.
template <class B>
ALGOPERF_COLD void GraphExecutor<B>::find_untouched() {
  const auto add = [this](TensorHandle handle) {
    if (!layout().spec(handle).fixed) untouched_.push_back(handle);
  };
  for (std::size_t i = 0; i < graph().ops.size(); ++i)
    if (training_.plan.runs_backward[i] == 0)
      for (std::size_t t = model_.ops().own_tensors(i).begin; t < model_.ops().own_tensors(i).end; ++t)
        add({static_cast<std::uint32_t>(t)});
  for (std::size_t i = 0; i < graph().tensors.size(); ++i)
    if (training_.plan.writes_gradient[i] == 0) add(model_.ops().tensors()[i]);
}

// Runs steps [begin, end) of the plan. A forward pass first rounds the parameters to the activations' type, in which
// matrix products read them.
template <class B>
void GraphExecutor<B>::run(const GraphPass<B>& pass, std::size_t begin, std::size_t end) {
  require(pass.examples > 0 && pass.examples <= capacity_, "GraphExecutor: the batch has ", pass.examples,
          " examples, expected 1 to ", capacity_, ", its capacity");
  if constexpr (!std::is_same_v<S, Scalar>) {
    if (rounded_.size() < layout().size()) rounded_ = backend_.template array<S>(layout().size());
    if (begin == 0) backend_.map(Assign{}, layout().size(), rounded_.data(), pass.values);
  }
  // A part's key depends only on its place and on the places of the blocks around it.
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const ModelGraph::Scope& scope = graph().scopes[i];
    keys_[i] = scope.parent == no_index ? pass.key : keys_[scope.parent].fold(scope.place);
  }
  Pass& own = pass_of(pass.mode);
  require(!own.calls.empty(), "GraphExecutor: it was made without memory for training");
  for (std::size_t i = begin; i < end; ++i) {
    const PlanStep& step = own.plan.steps[i];
    OpCall<B>& call = own.calls[i];
    if (step.op == no_index) {
      run_gradient_step(step, call, pass.examples);
      continue;
    }
    const ModelGraph::Op& op = *call.op;
    const std::size_t rows = call.pass.capacity / capacity_;
    call.examples = pass.examples;
    call.weights = pass.weights;
    call.pass.values = pass.values;
    call.pass.gradients = pass.gradients;
    call.pass.batch = pass.examples * rows;
    call.pass.first = pass.first * rows;
    call.pass.mode = op.fixed ? Mode::evaluate : pass.mode;
    call.pass.key = keys_[op.scope].fold(op.place);
    if constexpr (!std::is_same_v<S, Scalar>) call.pass.rounded = rounded_.data();
    if (step.kind == PlanStep::Kind::forward)
      model_.ops().op(step.op)->forward(call);
    else
      model_.ops().op(step.op)->backward(call);
  }
}

template <class B>
void GraphExecutor<B>::run_gradient_step(const PlanStep& step, const OpCall<B>& call, std::size_t examples) const {
  const Value& value = graph().values[step.value].value;
  const std::size_t n = examples * graph().axes[value.axis].rows * value.shape.size();
  const bool reads = step.kind != PlanStep::Kind::zero;
  model_.gradient_step()(backend_, step.kind, n, reads ? call.in(0) : nullptr, call.out());
}

}  // namespace algoperf
