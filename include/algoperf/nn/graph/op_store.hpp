// OpStore: a recorder's sink that keeps the parts of a model, each behind one virtual interface, to run them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "op.hpp"
#include "op_call.hpp"

namespace algoperf::detail {

// An op or layer that runs on backend B.
template <class B>
struct AnyOp {
  virtual ~AnyOp() = default;
  virtual void initialize(Initializer<typename B::Scalar>&) const {}
  virtual void forward(const OpCall<B>&) const = 0;
  virtual void backward(const OpCall<B>&) const = 0;
};

template <class B, class L>
class LayerOp final : public AnyOp<B> {
  using S = Stored<B>;
  using X = LayerInput<L, S>;

 public:
  LayerOp(const L& layer, const typename L::Handles& handles, Shape in) : layer_(layer), handles_(handles), in_(in) {}

  void initialize(Initializer<typename B::Scalar>& set) const override {
    if constexpr (Initializes<L, typename B::Scalar>) layer_.initialize(set, handles_, in_);
  }
  void forward(const OpCall<B>& call) const override {
    layer_.forward(call.pass, handles_, in_, static_cast<const X*>(call.x[0]), call.out());
  }
  void backward(const OpCall<B>& call) const override {
    layer_.backward(call.pass, handles_, in_, static_cast<const X*>(call.x[0]), static_cast<const S*>(call.out()),
                    call.d_out(), call.d_in(0));
  }

 private:
  L layer_;
  typename L::Handles handles_;
  Shape in_;
};

template <class B, class O>
class PlainOp final : public AnyOp<B> {
 public:
  explicit PlainOp(const O& op) : op_(op) {}

  void forward(const OpCall<B>& call) const override { op_.forward(call); }
  void backward(const OpCall<B>& call) const override {
    if constexpr (!IsLoss<O>) op_.backward(call);
  }

 private:
  O op_;
};

template <class B>
class OpStore {
 public:
  explicit OpStore(Layout& layout) : layout_(&layout) {}

  template <class Net>
  void tensor(const Net& net, GraphIndex index) {
    const ModelGraph::Tensor& t = net.graph().tensors[index];
    const std::size_t before = layout_->tensors().size();
    tensors_.push_back(layout_->add({net.graph().path(t.scope, t.name), t.kind, t.shape, t.output}));
    if (t.fixed) layout_->fix_since(before);
  }
  template <class Net, class L>
  void layer(const Net& net, GraphIndex index, const L& layer, const Value& x) {
    const ModelGraph::Op& op = net.graph().ops[index];
    const std::size_t before = layout_->tensors().size();
    const auto handles = layer.declare(*layout_, net.graph().path(op.scope, op.name), x.shape);
    if (op.fixed) layout_->fix_since(before);
    ops_.push_back(std::make_unique<LayerOp<B, L>>(layer, handles, x.shape));
    own_tensors_.push_back({before, layout_->tensors().size()});
  }
  template <class Net, class O, std::size_t N>
  void op(const Net&, GraphIndex, const O& op, const std::array<Value, N>&) {
    ops_.push_back(std::make_unique<PlainOp<B, O>>(op));
    own_tensors_.push_back({});
  }
  template <class Net>
  void view(const Net&, GraphIndex) {
    ops_.push_back(nullptr);
    own_tensors_.push_back({});
  }

  // Null for a view.
  const AnyOp<B>* op(std::size_t i) const { return ops_[i].get(); }
  // The handle of each shared tensor.
  const std::vector<TensorHandle>& tensors() const { return tensors_; }
  // The tensors that op i declared: handles [begin, end).
  struct OwnTensors {
    std::size_t begin = 0, end = 0;
  };
  const OwnTensors& own_tensors(std::size_t i) const { return own_tensors_[i]; }

 private:
  Layout* layout_;
  std::vector<std::unique_ptr<AnyOp<B>>> ops_;
  std::vector<OwnTensors> own_tensors_;
  std::vector<TensorHandle> tensors_;
};

}  // namespace algoperf::detail
