// ExampleGradients: measures the gradients of single examples op by op, without storing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"
#include "dense_examples.hpp"
#include "graph_executor.hpp"

namespace algoperf {

// For the examples of one batch, |g_e|^2 and g_e . g for any given g, where g_e is the gradient of example e's part of
// the batch's loss (their sum is the gradient of the batch). A Dense layer with one row per example computes its part
// from its input and the gradient of its output: |g_e|^2 = |dy|^2 (|x|^2 + 1), without the 1 if it has no bias
// (Goodfellow 2015, arXiv:1510.01799). Every other op with parameters runs for one example at a time: backward, and
// forward before it if that keeps values.
// Requires that the gradient of an example does not depend on other examples: throws Error if the model has buffers
// (BatchNorm). Other ops that couple examples are not detected. Throws Error, too, if the model has a ragged axis.
// Memory: an executor that keeps all activations of the batch, two arenas of the parameters' size, and for tensors that
// several ops share, a gradient per example.
// Cost: a forward and a backward pass; then the passes of single ops over single examples, or one more product for a
// Dense layer.
template <class B>
class ExampleGradients final : BackwardObserver<B> {
  using Scalar = typename B::Scalar;
  using S = Stored<B>;
  template <class T>
  using Array = typename B::template Array<T>;

 public:
  // For batches of up to `capacity` examples. `model` must outlive it.
  ALGOPERF_COLD ExampleGradients(const B& backend, const RecordedModel<B>& model, std::size_t capacity)
      : backend_(backend),
        model_(model),
        executor_(backend, model, capacity, {.share_memory = false, .keeps_values = true}),
        batch_gradient_(backend.template array<Scalar>(model.layout().size())),
        one_gradient_(backend.template array<Scalar>(model.layout().size())),
        squares_of_dense_(backend.template array<Scalar>(capacity)),
        inner_of_dense_(backend.template array<Scalar>(capacity)),
        rows_of_one_(graph().axes.size(), AxisRows{}) {
    require(!graph().has_buffers, "ExampleGradients: the model has buffers (BatchNorm), so the gradient of an example ",
            "depends on the other examples of its batch");
    require(!graph().is_ragged(), "ExampleGradients: the model has a ragged axis, which is not supported");
    find_shared();
    for (std::size_t i = 0; i < rows_of_one_.size(); ++i) {
      const std::size_t rows = graph().axes[i].rows;
      rows_of_one_[i] = {rows, rows, 0, {rows}};
    }
    std::size_t kept = 0, exact = 0, outputs = 0, scratch = 0;
    for (const ModelGraph::Op& op : graph().ops) {
      const std::size_t rows = graph().axes[graph().axis_of(op)].rows;
      kept = math::max(kept, op.traits.memory.kept * rows);
      exact = math::max(exact, op.traits.memory.exact * rows);
      outputs = math::max(outputs, output_bytes(op));
    }
    for (std::size_t i = 0; i < graph().ops.size(); ++i)
      if (const auto* const dense = as_dense(i)) scratch = math::max(scratch, dense->layer().units);
    kept_ = backend.template array<S>(kept);
    exact_ = backend.template array<Scalar>(exact);
    outputs_ = backend.template array<char>(outputs);
    scratch_ = backend.template array<Scalar>(scratch * capacity);
    shared_gradients_ = backend.template array<Scalar>(shared_size_ * capacity);
  }

  // Returns the executor that measure() uses. Bind the fields of the batch to it first.
  GraphExecutor<B>& executor() { return executor_; }

  // Computes |g_e|^2 and g_e . gradient for the examples of a pass in mode `train`. `gradient` is an arena with the
  // model's layout. pass.gradients is not used.
  void measure(GraphPass<B> pass, const Scalar* gradient) {
    const std::size_t n = pass.examples;
    require(n > 0 && n <= executor_.capacity(), "ExampleGradients: the batch has ", n, " examples, expected 1 to ",
            executor_.capacity());
    gradient_ = gradient;
    squares_.assign(n, 0);
    inner_.assign(n, 0);
    backend_.fill(n, squares_of_dense_.data(), Scalar(0));
    backend_.fill(n, inner_of_dense_.data(), Scalar(0));
    backend_.fill(n * shared_size_, shared_gradients_.data(), Scalar(0));
    pass.gradients = batch_gradient_.data();
    pass.observer = this;
    executor_.forward(pass);
    executor_.backward(pass);
    for (std::size_t e = 0; e < n; ++e)
      for (const Shared& shared : shared_)
        add(e, shared.handle, shared_gradients_.data() + e * shared_size_ + shared.begin);
    std::vector<Scalar> host(n);
    backend_.read(n, static_cast<const Scalar*>(squares_of_dense_.data()), host.data());
    for (std::size_t e = 0; e < n; ++e) squares_[e] += static_cast<double>(host[e]);
    backend_.read(n, static_cast<const Scalar*>(inner_of_dense_.data()), host.data());
    for (std::size_t e = 0; e < n; ++e) inner_[e] += static_cast<double>(host[e]);
  }
  // Return |g_e|^2 and g_e . gradient of each example e, until the next measure().
  const std::vector<double>& squares() const { return squares_; }
  const std::vector<double>& inner_products() const { return inner_; }

 private:
  static constexpr std::size_t alignment = 64;

  const ModelGraph& graph() const { return model_.graph(); }
  const Layout& layout() const { return model_.layout(); }

  // A tensor that several ops share, with its place among these in the gradient of one example.
  struct Shared {
    TensorHandle handle;
    std::size_t begin;
  };

  ALGOPERF_COLD void find_shared() {
    std::vector<std::size_t> uses(graph().tensors.size(), 0);
    for (const ModelGraph::Op& op : graph().ops)
      for (std::size_t k = 0; k < op.uses.count; ++k) ++uses[graph().tensor(op, k)];
    for (std::size_t i = 0; i < uses.size(); ++i)
      if (uses[i] > 1 && !graph().tensors[i].fixed) {
        const TensorHandle handle = model_.ops().tensors()[i];
        shared_.push_back({handle, shared_size_});
        shared_size_ += layout().place_of(handle).size;
      }
  }

  // Whether an op's tensor k is one of its tensors before k, too.
  bool is_repeated(const ModelGraph::Op& op, std::size_t k) const {
    for (std::size_t j = 0; j < k; ++j)
      if (graph().tensor(op, j) == graph().tensor(op, k)) return true;
    return false;
  }
  // Calls f(handle) once for each trained tensor of an op.
  template <class F>
  void for_each_tensor(GraphIndex op, const F& f) const {
    const auto own = model_.ops().own_tensors(op);
    const auto trained = [&](TensorHandle handle) {
      if (!layout().spec(handle).fixed) f(handle);
    };
    for (std::size_t t = own.begin; t < own.end; ++t) trained({static_cast<std::uint32_t>(t)});
    const ModelGraph::Op& info = graph().ops[op];
    for (std::size_t k = 0; k < info.uses.count; ++k)
      if (!is_repeated(info, k)) trained(model_.ops().tensors()[graph().tensor(info, k)]);
  }

  // Returns op i if it is a Dense layer, or null.
  const detail::LayerOp<B, Dense>* as_dense(std::size_t i) const {
    return dynamic_cast<const detail::LayerOp<B, Dense>*>(model_.ops().op(i));
  }

  std::size_t bytes_of_one(const Value& value) const {
    const std::size_t each = value.type == ElementType::activation  ? sizeof(S)
                             : value.type == ElementType::parameter ? sizeof(Scalar)
                                                                    : sizeof(std::int32_t);
    return graph().axes[value.axis].rows * value.shape.size() * each;
  }
  std::size_t output_bytes(const ModelGraph::Op& op) const {
    std::size_t bytes = 0;
    for (std::size_t k = 0; k < op.outputs.count; ++k)
      bytes += (bytes_of_one(graph().values[graph().output(op, k)].value) + alignment - 1) / alignment * alignment;
    return bytes;
  }

  void before_backward(GraphIndex op, const OpCall<B>& call) override {
    bool trains = false;
    for_each_tensor(op, [&](TensorHandle) { trains = true; });
    if (!trains) return;
    if constexpr (std::is_same_v<S, Scalar>)
      if (const auto* const dense = as_dense(op); dense != nullptr && call.pass.batch == call.examples)
        return detail::add_dense_products(call.pass, dense->layer(), dense->handles(), call.in_shape(0), call.in(0),
                                          call.d_out(), gradient_, scratch_.data(), squares_of_dense_.data(),
                                          inner_of_dense_.data());
    for (std::size_t e = 0; e < call.examples; ++e) measure_one(op, call, e);
  }

  // Returns the part of a value of the batch that belongs to example e.
  void* part_of(void* batch, const Value& value, std::size_t e) const {
    return batch == nullptr ? nullptr : static_cast<char*>(batch) + e * bytes_of_one(value);
  }

  void measure_one(GraphIndex op, const OpCall<B>& batch, std::size_t e) {
    const ModelGraph::Op& info = graph().ops[op];
    const std::size_t inputs = info.inputs.count, outputs = info.outputs.count;
    x_.resize(inputs);
    y_.resize(outputs);
    dy_.resize(outputs);
    dx_.assign(inputs, nullptr);
    for (std::size_t k = 0; k < inputs; ++k) x_[k] = part_of(batch.x[k], batch.input(k), e);
    for (std::size_t k = 0; k < outputs; ++k) y_[k] = part_of(batch.y[k], batch.output(k), e);
    for (std::size_t k = 0; k < outputs; ++k) dy_[k] = part_of(batch.dy[k], batch.output(k), e);

    OpCall<B> one = batch;
    const std::size_t rows = graph().axes[graph().axis_of(info)].rows;
    one.x = x_.data();
    one.y = y_.data();
    one.dx = dx_.data();
    one.dy = dy_.data();
    one.axes = rows_of_one_.begin();
    one.examples = 1;
    one.adds = one.adds_tensors = 0;
    for (std::size_t k = 0; k < info.uses.count; ++k)
      if (is_repeated(info, k)) one.adds_tensors |= std::uint64_t{1} << k;
    one.pass.batch = one.pass.capacity = rows;
    one.pass.first = batch.pass.first + e * rows;
    one.pass.gradients = one_gradient_.data();
    one.pass.kept = kept_.data();
    one.pass.exact = exact_.data();
    const detail::AnyOp<B>& part = *model_.ops().op(op);
    if (info.traits.memory.kept + info.traits.memory.exact > 0) {  // which only forward() of this example writes
      std::size_t begin = 0;
      for (std::size_t k = 0; k < outputs; ++k) {
        y_[k] = outputs_.data() + begin;
        begin += (bytes_of_one(batch.output(k)) + alignment - 1) / alignment * alignment;
      }
      part.forward(one);
    }
    part.backward(one);
    for_each_tensor(op, [&](TensorHandle handle) {
      const TensorPlace place = layout().place_of(handle);
      const Scalar* const g = one_gradient_.data() + place.offset;
      for (const Shared& shared : shared_)
        if (shared.handle.index == handle.index)
          return backend_.map(Add{}, place.size, shared_gradients_.data() + e * shared_size_ + shared.begin, g);
      add(e, handle, g);
    });
  }
  // Adds the products of example e's gradient g of a tensor.
  void add(std::size_t e, TensorHandle handle, const Scalar* g) {
    const TensorPlace place = layout().place_of(handle);
    squares_[e] += backend_.dot(place.size, g, g);
    inner_[e] += backend_.dot(place.size, g, gradient_ + place.offset);
  }

  B backend_;
  const RecordedModel<B>& model_;
  GraphExecutor<B> executor_;
  Array<Scalar> batch_gradient_, one_gradient_;      // arenas
  Array<Scalar> squares_of_dense_, inner_of_dense_;  // of dense layers
  List<AxisRows> rows_of_one_;                       // of each axis
  Array<S> kept_;                                    // of one op and example, as the arrays below
  Array<Scalar> exact_;
  Array<char> outputs_;
  Array<Scalar> scratch_;  // of one dense layer
  std::vector<Shared> shared_;
  std::size_t shared_size_ = 0;
  Array<Scalar> shared_gradients_;  // of each example
  const Scalar* gradient_ = nullptr;
  std::vector<double> squares_, inner_;
  std::vector<void*> x_, y_, dx_, dy_;
};

}  // namespace algoperf
