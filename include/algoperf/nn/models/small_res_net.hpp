#pragma once

#include <cstddef>

#include "../layers/average_pool.hpp"
#include "../layers/dense.hpp"
#include "res_net_block.hpp"

namespace algoperf {

// A residual network for small images, with 6 * blocks + 2 layers, where `blocks` is the number of blocks per stage: 1
// gives ResNet-8, 3 gives ResNet-20. It consists of a 3 x 3 convolution, three stages of residual blocks, the mean over
// the pixels, and a dense layer to the logits. The stages have filters, 2 filters and 4 filters; the second and third
// begin with a stride of 2. A model function of the field "input", square images of shape `in`.
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
    net.check(in.rank == 3 && in[0] == in[1], {}, "the images have shape ", in, ", expected squares");
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
    x = net("pool", AveragePool{.size = x.shape[0], .stride = x.shape[0]}, x);
    return net("logits", Dense{.units = classes, .init = Init::normal(0.01), .output_layer = true}, x);
  }
};

}  // namespace algoperf
