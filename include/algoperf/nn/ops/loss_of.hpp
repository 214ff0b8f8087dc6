#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "check_alike.hpp"
#include "row_weights.hpp"

namespace algoperf {

// A Loss (nn/concept.hpp) as an op of outputs and labels: one unweighted loss per row.
//   net(LossOf(SoftmaxCrossEntropy{.label_smoothing = 0.1}), logits, net.tokens("label"));
// The gradient of the outputs is that of sum(weights * losses) / rows; a Weighted loss has formulas of its own. Labels
// are tokens of shape {1} on the outputs' axis or, if the loss takes real-valued labels, elements of type `parameter`
// with the outputs' shape. A Weighted loss has a third input, the weights: elements of type `parameter` and shape {1}
// on the outputs' axis.
template <class Loss>
struct LossOf {
  Loss loss;
  static constexpr const char* name = "loss";
  static constexpr bool is_loss = true;
  static constexpr bool takes_classes = std::is_same_v<LossLabel<Loss, float>, std::int32_t>;

  constexpr explicit LossOf(const Loss& l) : loss(l) {}

  static constexpr bool weighted = detail::HasWeightField<Loss>;
  using Inputs = std::array<Value, weighted ? 3 : 2>;

  constexpr std::size_t tokens(const Inputs& x, std::size_t k) const {
    return takes_classes && k == 1 ? detail::classes_of(loss, x[0].shape.size()) : 0;
  }
  constexpr OpTraits traits(const Inputs&) const {
    OpTraits traits;
    if (weighted) traits.memory.exact = 1;  // the weights of gradients
    return traits;
  }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const Inputs& x) const {
    detail::check_activations(net, own, x[0]);
    if constexpr (weighted)
      net.check(x[2].type == ElementType::parameter && x[2].axis == x[0].axis && x[2].shape.size() == 1, own,
                "the weights have shape ", x[2].shape, " on the axis '", net.axis_name(x[2]),
                "', expected one element of type `parameter` per row of the outputs, on '", net.axis_name(x[0]), "'");
    if (takes_classes)
      net.check(x[1].type == ElementType::token && x[1].axis == x[0].axis && x[1].shape.size() == 1, own,
                "the labels have shape ", x[1].shape, " on the axis '", net.axis_name(x[1]),
                "', expected one token per row of the outputs, on '", net.axis_name(x[0]), "'");
    else
      net.check(x[1].type == ElementType::parameter && x[1].axis == x[0].axis && x[1].shape.size() == x[0].shape.size(),
                own, "the labels have shape ", x[1].shape, " on the axis '", net.axis_name(x[1]),
                "', expected elements of type `parameter` with the shape of the outputs, ", x[0].shape, " on '",
                net.axis_name(x[0]), "'");
    return {no_index, x[0].axis, Shape{1}, ElementType::parameter};
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const Inputs& x, Tally& tally) const {
    loss.count(net.rows(x[0]), x[0].shape.size(), tally);
  }

  template <class Call>
  void forward(const Call& call) const {
    using S = typename Call::Scalar;
    detail::write_row_losses<weighted>(call, call.rows(0), call.pass.exact, [&](const S* weights) {
      loss.write(call.pass.backend, call.rows(0), call.in_shape(0).size(), call.in(0),
                 static_cast<const LossLabel<Loss, S>*>(call.x[1]), weights, call.losses(), call.d_in(0));
    });
  }
};

}  // namespace algoperf
