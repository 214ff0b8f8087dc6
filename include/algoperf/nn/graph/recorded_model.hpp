// RecordedModel: a model function with its layout and its parts, ready to run on a backend.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "any_op.hpp"
#include "gradient_step.hpp"
#include "layout_of.hpp"

namespace algoperf {

namespace detail {

// A sink that also keeps the parts.
template <class B>
class OpStore : public DeclaringSink {
 public:
  using DeclaringSink::DeclaringSink;
  OpStore(OpStore&&) noexcept = default;
  OpStore& operator=(OpStore&&) = delete;
  ~OpStore() {
    for (const AnyOp<B>* const op : ops_) delete op;
  }

  template <class Net, class L>
  ALGOPERF_COLD void declare(const Net& net, OpName name, const L& layer, const Value& x) {
    const std::size_t before = layout().tensors().size();
    ops_.push_back(new LayerOp<B, L>(layer, handles_of(net, name, layer, x), x.shape));
    own_tensors_.push_back({before, layout().tensors().size()});
  }
  template <class Net, class O, std::size_t N>
  ALGOPERF_COLD void op(const Net&, GraphIndex, const O& op, const std::array<Value, N>&) {
    ops_.push_back(new PlainOp<B, O>(op));
    own_tensors_.push_back({});
  }
  template <class Net>
  void view(const Net&, GraphIndex) {
    ops_.push_back(nullptr);
    own_tensors_.push_back({});
  }

  // Null for a view.
  const AnyOp<B>* op(std::size_t i) const { return ops_[i]; }
  // The tensors that op i declared: handles [begin, end).
  struct OwnTensors {
    std::size_t begin = 0, end = 0;
  };
  const OwnTensors& own_tensors(std::size_t i) const { return own_tensors_[i]; }

 private:
  List<const AnyOp<B>*> ops_;  // owned
  List<OwnTensors> own_tensors_;
};

}  // namespace detail

// Refers to a model function of any type, which must outlive it, for execution on backend B.
template <class B>
class ModelFunctionRef {
  using Net = Recorder<detail::OpStore<B>>;

 public:
  template <class ModelFunction>
  explicit ModelFunctionRef(const ModelFunction& model)
      : model_(&model),
        record_([](const void* m, Net& net) { (*static_cast<const ModelFunction*>(m))(net); }),
        gradient_step_(detail::run_gradient_step<B>) {}
  void operator()(Net& net) const { record_(model_, net); }
  // Points to the program's run_gradient_step(), because algoperf::gemm, which contains executors, may be compiled for
  // an older processor.
  detail::GradientStep<B>* gradient_step() const { return gradient_step_; }

 private:
  const void* model_;
  void (*record_)(const void*, Net&);
  detail::GradientStep<B>* gradient_step_;
};

// Executors (graph_executor.hpp) refer to a RecordedModel, so it must outlive them and cannot be copied.
// Long members are defined outside of the class, so that algoperf::gemm can contain them (compiled.hpp).
template <class B>
class RecordedModel {
  using Scalar = typename B::Scalar;

 public:
  // field_gradients: losses are differentiated with respect to the fields of activations, too. Throws Error, with the
  // path of the part, if the model is not well formed.
  explicit RecordedModel(const ModelFunctionRef<B>& model, bool field_gradients = false);
  template <class ModelFunction>
  explicit RecordedModel(const ModelFunction& model, bool field_gradients = false)
      : RecordedModel(ModelFunctionRef<B>(model), field_gradients) {}
  ~RecordedModel();
  RecordedModel(const RecordedModel&) = delete;
  RecordedModel& operator=(const RecordedModel&) = delete;

  const ModelGraph& graph() const { return net_.graph(); }
  const detail::OpStore<B>& ops() const { return net_.sink(); }
  detail::GradientStep<B>* gradient_step() const { return gradient_step_; }
  const Layout& layout() const { return layout_; }
  Layout& layout() { return layout_; }

  // Writes the initial values of all tensors. `set` must refer to layout().
  void initialize(Initializer<Scalar>& set) const;
  // Returns the initial values, an arena in the backend's memory.
  typename B::template Array<Scalar> initial_values(const B& backend, RandomKey key) const;

  // Returns a field that the model reads. Throws Error if it reads none of this name.
  const ModelGraph::ValueInfo& field(const char* name) const;
  // Returns the shape of one example's field: that of its rows, joined if there are several.
  Shape shape_of_example(const ModelGraph::ValueInfo& field) const;
  // Returns the value that is kept last: the outputs of an Objective. Throws Error if the model keeps none.
  const Value& outputs() const;
  // Returns the losses of the model's first loss. losses() throws Error if it has none.
  bool has_loss() const { return find_loss() != no_index; }
  const Value& losses() const;
  // Returns the weights of a Weighted loss's rows, or null if the model's first loss has none.
  const Value* loss_weights() const;

 private:
  GraphIndex find_loss() const;

  Layout layout_;
  Recorder<detail::OpStore<B>> net_;
  detail::GradientStep<B>* gradient_step_;
};

template <class B>
ALGOPERF_COLD RecordedModel<B>::RecordedModel(const ModelFunctionRef<B>& model, bool field_gradients)
    : net_(detail::OpStore<B>(layout_)), gradient_step_(model.gradient_step()) {
  if (field_gradients) net_.require_field_gradients();
  model(net_);
}

template <class B>
RecordedModel<B>::~RecordedModel() = default;

template <class B>
ALGOPERF_COLD void RecordedModel<B>::initialize(Initializer<Scalar>& set) const {
  set.set_standard(graph().standard_init);
  for (std::size_t i = 0; i < graph().ops.size(); ++i)
    if (ops().op(i) != nullptr) ops().op(i)->initialize(set);
  for (std::size_t i = 0; i < graph().tensors.size(); ++i) {
    const ModelGraph::Tensor& t = graph().tensors[i];
    set(ops().tensors()[i], t.init, t.fan_in, t.fan_out);
  }
}

template <class B>
ALGOPERF_COLD auto RecordedModel<B>::initial_values(const B& backend, RandomKey key) const ->
    typename B::template Array<Scalar> {
  std::vector<Scalar> drawn(layout().size());
  Initializer<Scalar> set(layout(), drawn.data(), key);
  initialize(set);
  auto values = backend.template array<Scalar>(drawn.size());
  backend.write(drawn.size(), static_cast<const Scalar*>(drawn.data()), values.data());
  return values;
}

template <class B>
ALGOPERF_COLD const ModelGraph::ValueInfo& RecordedModel<B>::field(const char* name) const {
  const GraphIndex index = graph().find_field(name);
  require(index != no_index, "the model reads no field '", name, "'");
  return graph().values[index];
}

template <class B>
Shape RecordedModel<B>::shape_of_example(const ModelGraph::ValueInfo& field) const {
  const std::size_t rows = graph().axes[field.value.axis].rows;
  return rows == 1 ? field.value.shape : Shape{rows * field.value.shape.size()};
}

template <class B>
const Value& RecordedModel<B>::outputs() const {
  require(!graph().outputs.empty(), "the model keeps no outputs");
  return graph().values[graph().outputs.back()].value;
}

template <class B>
const Value& RecordedModel<B>::losses() const {
  const GraphIndex index = find_loss();
  require(index != no_index, "the model has no loss");
  return graph().values[index].value;
}

template <class B>
const Value* RecordedModel<B>::loss_weights() const {
  for (const ModelGraph::Op& op : graph().ops)
    if (op.loss) return op.inputs.count < 3 ? nullptr : &graph().values[graph().input(op, 2)].value;
  return nullptr;
}

template <class B>
GraphIndex RecordedModel<B>::find_loss() const {
  for (const ModelGraph::Op& op : graph().ops)
    if (op.loss) return graph().output(op, 0);
  return no_index;
}

}  // namespace algoperf
