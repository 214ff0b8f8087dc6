#pragma once

#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/batch_norm.hpp"
#include "../layers/conv2d.hpp"
#include "../layers/relu.hpp"
#include "../ops/sum.hpp"

namespace algoperf {

// A residual block of two convolutions:
//   y = act(norm_2(conv_2(act(norm_1(conv_1(x))))) + shortcut(x))
// where the shortcut is x, or norm(conv(x)) with a 1 x 1 convolution if the shape changes.
// Shapes: in {rows, columns, channels}, out {rows / stride, columns / stride, filters}, rounded up. Tensors: conv_1,
//   norm_1, conv_2, norm_2, and shortcut.conv and shortcut.norm. Convolutions have no biases.
// Hyperparameters: filters; stride, of conv_1 and the shortcut; ghost, of the batch norms; last_scale, the initial
//   value of the scale of norm_2: 0 makes the block the identity at first (Goyal et al. 2017, arXiv:1706.02677, section
//   5.1).
// Source: He et al. 2016, arXiv:1512.03385, figure 2 and option B of section 3.3.
template <class Activation = Relu>
struct ResNetBlock {
  std::size_t filters = 16, stride = 1, ghost = 0;
  Init last_scale = Init::zeros;

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const BatchNorm norm{.ghost = ghost};
    const auto conv = [this](std::size_t size, std::size_t step) {
      return Conv2d{.filters = filters,
                    .size = size,
                    .stride = step,
                    .padding = size / 2,
                    .init = Init::lecun_normal,
                    .bias = false};
    };
    Value y = net("act_1", Activation{}, net("norm_1", norm, net("conv_1", conv(3, stride), x)));
    y = net("norm_2", BatchNorm{.ghost = ghost, .init = last_scale}, net("conv_2", conv(3, 1), y));
    if (y.shape != x.shape) {
      const typename Net::Scope shortcut(net, "shortcut");
      x = net("norm", norm, net("conv", conv(1, stride), x));
    }
    return net("act_2", Activation{}, net("sum", Sum{}, y, x));
  }
};

}  // namespace algoperf
