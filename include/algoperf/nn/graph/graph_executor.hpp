// GraphExecutor: runs a model function's forward and backward passes on a backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../../core/map_kernels.hpp"
#include "op_store.hpp"
#include "planner.hpp"
#include "recorder.hpp"

namespace algoperf {

// The arguments of a pass over the batch whose fields are bound.
template <class B>
struct GraphPass {
  const typename B::Scalar* values = nullptr;  // of the parameters, with the executor's layout
  typename B::Scalar* gradients = nullptr;     // null if backward is not called
  std::size_t examples = 0;                    // at most the executor's capacity
  Mode mode = Mode::train;
  RandomKey key = {};
  std::size_t first = 0;                        // index of the first example within the step's batch
  const typename B::Scalar* weights = nullptr;  // one per row of the losses; null if backward is not called
};

struct GraphOptions {
  bool field_gradients = false;  // computes the gradients of the fields of activations, too
  bool share_memory = true;      // PlanOptions::share
};

// Records the model and allocates memory for batches of up to `capacity` examples. A pass allocates nothing, except
// inside matrix products and convolutions.
// Cost: about 10 ns per op and pass in addition to what the op computes.
template <class B>
class GraphExecutor {
  using Scalar = typename B::Scalar;
  using S = Stored<B>;

 public:
  template <class ModelFunction>
  GraphExecutor(const B& backend, const ModelFunction& model, std::size_t capacity, const GraphOptions& options = {})
      : backend_(backend), net_(detail::OpStore<B>(layout_)), capacity_(capacity) {
    if (options.field_gradients) net_.require_field_gradients();
    model(net_);
    const PlanSizes sizes{capacity, sizeof(S), sizeof(Scalar), backend_.scratch};
    for (const bool training : {true, false}) {
      Pass& pass = passes_[training];
      pass.plan = Planner(graph(), {.training = training, .share = options.share_memory}).plan();
      size_buffers(pass.plan, graph(), sizes);
      place_buffers(pass.plan);
    }
    const std::size_t bytes = std::max(passes_[0].plan.bytes, passes_[1].plan.bytes);
    arena_ = backend_.template array<char>(bytes);
    for (Pass& pass : passes_) prepare(pass);
    keys_.resize(graph().scopes.size());
  }
  GraphExecutor(const GraphExecutor&) = delete;
  GraphExecutor& operator=(const GraphExecutor&) = delete;

  const ModelGraph& graph() const { return net_.graph(); }
  const MemoryPlan& plan(bool training = true) const { return passes_[training].plan; }
  const Layout& layout() const { return layout_; }
  Layout& layout() { return layout_; }
  std::size_t capacity() const { return capacity_; }

  // Writes the initial values of all tensors. `set` must refer to layout().
  void initialize(Initializer<Scalar>& set) const {
    set.set_standard(graph().standard_init);
    for (std::size_t i = 0; i < graph().ops.size(); ++i)
      if (net_.sink().op(i) != nullptr) net_.sink().op(i)->initialize(set);
    for (std::size_t i = 0; i < graph().tensors.size(); ++i) {
      const ModelGraph::Tensor& t = graph().tensors[i];
      set(net_.sink().tensors()[i], t.init, t.fan_in, t.fan_out);
    }
  }

  // Returns the value of a field that the model reads. Throws Error if it reads none of this name.
  const Value& field(const std::string& name) const {
    for (const ModelGraph::ValueInfo& info : graph().values)
      if (info.producer == no_index && name == info.field) return info.value;
    fail("the model reads no field '", name, "'");
  }
  // Sets the memory of a field: rows x shape elements, in the backend's memory. It must stay valid during passes.
  void bind(const Value& field, const void* data) {
    for (Pass& pass : passes_)
      for (const Binding& binding : pass.bindings)
        if (binding.field == field.index) pass.pointers[binding.pointer] = const_cast<void*>(data);
  }

  void forward(const GraphPass<B>& pass) {
    Pass& own = passes_[pass.mode == Mode::train];
    round(pass);
    run(own, pass, 0, own.plan.forward_steps);
  }
  // Follows forward() with the same arguments, in mode `train`.
  void backward(const GraphPass<B>& pass) {
    Pass& own = passes_[true];
    for (const TensorHandle handle : untouched_)
      backend_.fill(layout_.place_of(handle).size, pass.gradients + layout_.place_of(handle).offset, Scalar(0));
    run(own, pass, own.plan.forward_steps, own.plan.steps.size());
  }
  // Returns where the last forward pass in this mode left a value that the model keeps, or a loss. T is the type that
  // belongs to value.type.
  template <class T = S>
  const T* result(const Value& value, Mode mode = Mode::train) const {
    const Pass& own = passes_[mode == Mode::train];
    return static_cast<const T*>(pointer(own, own.plan.place_of[value.index]));
  }
  // Returns where the last backward pass left the gradient of a field, or null if no loss depends on it.
  const S* field_gradient(const Value& field) const {
    return static_cast<const S*>(pointer(passes_[true], passes_[true].plan.gradient_of[field.index]));
  }

 private:
  struct Binding {
    std::size_t pointer;
    GraphIndex field;
  };
  struct Pass {
    MemoryPlan plan;
    std::vector<void*> pointers;  // of the plan's refs
    std::vector<Binding> bindings;
    std::vector<OpCall<B>> calls;  // of the plan's steps
  };

  void* pointer(const Pass& pass, const BufferRef& ref) const {
    if (!ref.is_buffer() || !pass.plan.buffers[ref.index].used()) return nullptr;
    return const_cast<char*>(arena_.data()) + pass.plan.buffers[ref.index].offset;
  }
  void prepare(Pass& pass) {
    pass.pointers.reserve(pass.plan.refs.size());
    for (const BufferRef& ref : pass.plan.refs) {
      if (ref.kind == BufferRef::Kind::field) pass.bindings.push_back({pass.pointers.size(), ref.index});
      pass.pointers.push_back(pointer(pass, ref));
    }
    for (const PlanStep& step : pass.plan.steps) {
      const std::size_t rows =
          step.op == no_index || graph().ops[step.op].inputs.count == 0
              ? 1
              : graph().axes[graph().values[graph().input(graph().ops[step.op], 0)].value.axis].rows;
      LayerCall<B> layer{backend_,
                         layout_,
                         nullptr,
                         nullptr,
                         0,
                         capacity_ * rows,
                         Mode::train,
                         {},
                         static_cast<S*>(pointer(pass, step.kept)),
                         static_cast<S*>(pointer(pass, step.scratch)),
                         static_cast<Scalar*>(pointer(pass, step.exact))};
      OpCall<B> call{layer, &graph(), step.op == no_index ? nullptr : &graph().ops[step.op],
                     net_.sink().tensors().data()};
      call.x = pass.pointers.data() + step.x.begin;
      call.y = pass.pointers.data() + step.y.begin;
      call.dx = pass.pointers.data() + step.dx.begin;
      call.dy = pass.pointers.data() + step.dy.begin;
      call.adds = step.adds;
      call.adds_tensors = step.adds_tensors;
      pass.calls.push_back(call);
    }
    if (&pass == &passes_[true]) find_untouched(pass.plan);
  }
  // Finds the tensors whose gradient no step writes, because no loss depends on them.
  void find_untouched(const MemoryPlan& plan) {
    const auto add = [this](TensorHandle handle) {
      if (!layout_.spec(handle).fixed) untouched_.push_back(handle);
    };
    for (std::size_t i = 0; i < graph().ops.size(); ++i)
      if (plan.runs_backward[i] == 0)
        for (std::size_t t = net_.sink().own_tensors(i).begin; t < net_.sink().own_tensors(i).end; ++t)
          add({static_cast<std::uint32_t>(t)});
    for (std::size_t i = 0; i < graph().tensors.size(); ++i)
      if (plan.writes_gradient[i] == 0) add(net_.sink().tensors()[i]);
  }

  // Converts the parameters to the activations' type, in which matrix products read them.
  void round(const GraphPass<B>& pass) {
    if constexpr (!std::is_same_v<S, Scalar>) {
      if (rounded_.size() < layout_.size()) rounded_ = backend_.template array<S>(layout_.size());
      backend_.map(Assign{}, layout_.size(), rounded_.data(), pass.values);
    }
  }
  void run(Pass& own, const GraphPass<B>& pass, std::size_t begin, std::size_t end) {
    require(pass.examples > 0 && pass.examples <= capacity_, "GraphExecutor: the batch has ", pass.examples,
            " examples, expected 1 to ", capacity_, ", its capacity");
    // A part's key depends only on its place and the places of the blocks around it.
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const ModelGraph::Scope& scope = graph().scopes[i];
      keys_[i] = scope.parent == no_index ? pass.key : keys_[scope.parent].fold(scope.place);
    }
    for (std::size_t i = begin; i < end; ++i) {
      const PlanStep& step = own.plan.steps[i];
      OpCall<B>& call = own.calls[i];
      if (step.op == no_index) {
        run_small(step, call, pass.examples);
        continue;
      }
      const ModelGraph::Op& op = *call.op;
      call.examples = pass.examples;
      call.weights = pass.weights;
      const std::size_t rows = call.pass.capacity / capacity_;
      call.pass.values = pass.values;
      call.pass.gradients = pass.gradients;
      call.pass.batch = pass.examples * rows;
      call.pass.first = pass.first * rows;
      call.pass.mode = op.fixed ? Mode::evaluate : pass.mode;
      call.pass.key = keys_[op.scope].fold(op.place);
      if constexpr (!std::is_same_v<S, Scalar>) call.pass.rounded = rounded_.data();
      if (step.kind == PlanStep::Kind::forward)
        net_.sink().op(step.op)->forward(call);
      else
        net_.sink().op(step.op)->backward(call);
    }
  }
  void run_small(const PlanStep& step, const OpCall<B>& call, std::size_t examples) const {
    const Value& value = graph().values[step.value].value;
    const std::size_t n = examples * graph().axes[value.axis].rows * value.shape.size();
    if (step.kind == PlanStep::Kind::add)
      backend_.map(Add{}, n, call.out(), call.in(0));
    else if (step.kind == PlanStep::Kind::copy)
      backend_.copy(n, call.in(0), call.out());
    else
      backend_.fill(n, call.out(), S(0));
  }

  B backend_;
  Layout layout_;
  Recorder<detail::OpStore<B>> net_;
  std::size_t capacity_;
  Pass passes_[2];               // evaluation, training
  std::vector<RandomKey> keys_;  // of each scope
  std::vector<TensorHandle> untouched_;
  typename B::template Array<char> arena_;
  typename B::template Array<S> rounded_;
};

}  // namespace algoperf
