#pragma once

#include "op.hpp"
#include "op_call.hpp"

namespace algoperf::detail {

// A layer or op that runs on backend B, behind one virtual interface.
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

  const L& layer() const { return layer_; }
  const typename L::Handles& handles() const { return handles_; }

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

}  // namespace algoperf::detail
