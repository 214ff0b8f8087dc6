// layout_of(model): the tensors of a model function.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../../core/layout.hpp"
#include "recorder.hpp"

namespace algoperf {

namespace detail {

// A sink that adds the tensors of a model to a layout, in the order in which the model declares them.
class DeclaringSink : public NoSink {
 public:
  explicit DeclaringSink(Layout& layout) : layout_(&layout) {}

  template <class Net>
  void tensor(const Net& net, GraphIndex index) {
    const ModelGraph::Tensor& t = net.graph().tensors[index];
    const std::size_t before = layout_->tensors().size();
    tensors_.push_back(layout_->add({net.graph().path(t.scope, t.name), t.kind, t.shape, t.output}));
    if (t.fixed) layout_->fix_since(before);
  }
  template <class Net, class L>
  void declare(const Net& net, OpName name, const L& layer, const Value& x) {
    handles_of(net, name, layer, x);
  }

  // The handle of each shared tensor.
  const std::vector<TensorHandle>& tensors() const { return tensors_; }

 protected:
  template <class Net, class L>
  typename L::Handles handles_of(const Net& net, OpName name, const L& layer, const Value& x) {
    const std::size_t before = layout_->tensors().size();
    const typename L::Handles handles = layer.declare(*layout_, net.graph().path(net.scope(), name), x.shape);
    if (net.fixed()) layout_->fix_since(before);
    return handles;
  }
  const Layout& layout() const { return *layout_; }

 private:
  Layout* layout_;
  std::vector<TensorHandle> tensors_;
};

}  // namespace detail

template <class ModelFunction>
Layout layout_of(const ModelFunction& model) {
  Layout layout;
  Recorder<detail::DeclaringSink> net{detail::DeclaringSink(layout)};
  model(net);
  return layout;
}

}  // namespace algoperf
