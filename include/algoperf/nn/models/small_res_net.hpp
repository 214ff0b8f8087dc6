#pragma once

#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/average_pool.hpp"
#include "../layers/batch_norm.hpp"
#include "../layers/conv2d.hpp"
#include "../layers/dense.hpp"
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

// A residual network for small images, with 6 blocks + 2 layers: ResNet-8 with 1 block per stage, ResNet-20 with 3. A
// 3 x 3 convolution, three stages of residual blocks with filters, 2 filters and 4 filters, of which the second and the
// third begin with a stride of 2, the mean over the pixels, and a dense layer to the logits. A model function of the
// field "input", images of shape `in`.
//   TrainingLoop loop(SmallResNet<>{.blocks = 3}, SoftmaxCrossEntropy{}, momentum(), ...);
// Tensors: conv, norm, stage.<s>.<b> (ResNetBlock), logits {classes, 4 filters}.
// Source: He et al. 2016, arXiv:1512.03385, section 4.2. Departures: projection shortcuts (option B) instead of padding
//   with zeros, and the initial values of AlgoPerf: LeCun normal, logits normal with a standard deviation of 0.01, and
//   `last_scale` for the last norm of each block.
template <class Activation = Relu>
struct SmallResNet {
  std::size_t blocks = 1;
  std::size_t filters = 16;
  std::size_t classes = 10;
  std::size_t ghost = 0;  // of the batch norms: the examples that are normalised together; 0 for all of a worker
  Init last_scale = Init::zeros;
  Shape in = {32, 32, 3};

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const Conv2d first{.filters = filters, .padding = 1, .init = Init::lecun_normal, .bias = false};
    Value x = net("norm", BatchNorm{.ghost = ghost}, net("conv", first, net.field("input", in)));
    x = net("act", Activation{}, x);
    for (std::size_t stage = 0; stage < 3; ++stage) {
      const typename Net::Scope scope(net, {"stage", stage});
      for (std::size_t block = 0; block < blocks; ++block)
        x = net({"", block},
                ResNetBlock<Activation>{.filters = filters << stage,
                                        .stride = stage > 0 && block == 0 ? std::size_t{2} : std::size_t{1},
                                        .ghost = ghost,
                                        .last_scale = last_scale},
                x);
    }
    net.check(x.shape[0] == x.shape[1], {}, "the images have shape ", in, ", expected squares");
    x = net("pool", AveragePool{.size = x.shape[0], .stride = x.shape[0]}, x);
    return net("logits", Dense{.units = classes, .init = Init::normal(0.01), .output_layer = true}, x);
  }
};

}  // namespace algoperf
