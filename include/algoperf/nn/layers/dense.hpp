#pragma once

#include "../concept.hpp"
#include "../init.hpp"

namespace algoperf {

// A fully connected layer: y = x W^T + b, per example. W is `weight` {units, in.size()}, b is `bias` {units}; without a
// bias, y = x W^T. An input of any shape is read as one row (torch's Linear applies to the last axis). Initial values:
// W by `init`, the model's by default (Model::with_init), and b by `bias_init`, zeros by default (torch's Linear uses
// Init::torch_uniform for both). declare throws Error if units is 0. Cost: 2 in units + units FLOPs forward, 4 in units
// + units backward; without a bias, units fewer.
struct Dense {
  std::size_t units = 1;
  Init init = Init::standard;
  bool output_layer = false;  // marks its tensors as the model's output; `matrices` in partition(...) excludes them
  bool bias = true;
  Init bias_init = Init::zeros;

  struct Handles {
    TensorHandle weight, bias = {};
  };

  constexpr Shape output(Shape) const { return {units}; }
  constexpr ModelPart part() const { return output_layer ? ModelPart::output : ModelPart::body; }
  constexpr std::uint64_t parameters(Shape in) const { return in.size() * units + (bias ? units : 0); }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    tally.operation(matrix_product("dense", batch, units, in.size(), part()));
    if (bias) tally.operation(operation_of(part(), "bias", batch * units, batch * units + units, batch * units));
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    tally.operation(matrix_product("dense, weight gradient", units, in.size(), batch, part()));
    if (bias) tally.operation(operation_of(part(), "bias gradient", batch * units, batch * units, units));
    if (input_gradient) tally.operation(matrix_product("dense, input gradient", batch, in.size(), units, part()));
  }
  constexpr LayerMemory memory(Shape) const { return {}; }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    require(units > 0, name, ": Dense has units 0, expected at least 1");
    Handles handles{layout.add({name + ".weight", Kind::weight, {units, in.size()}, output_layer})};
    if (bias) handles.bias = layout.add({name + ".bias", Kind::bias, {units}, output_layer});
    return handles;
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& h, Shape in) const {
    set(h.weight, init, in.size(), units);
    if (bias) set(h.bias, bias_init, in.size(), units);
  }

  template <class B, class S>
  void forward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, S* y) const {
    const auto* const added = bias ? call.value(h.bias) : nullptr;
    call.backend.gemm_nt_bias(call.batch, units, in.size(), x, call.weight(h.weight), added, y);
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, const Handles& h, Shape in, const S* x, const S*, const S* dy, S* dx) const {
    call.backend.gemm_tn(units, in.size(), call.batch, dy, x, call.gradient(h.weight));
    if (bias) call.backend.column_sums(call.batch, units, dy, call.gradient(h.bias));
    if (dx != nullptr) call.backend.gemm_nn(call.batch, in.size(), units, dy, call.weight(h.weight), dx);
  }
};

}  // namespace algoperf
