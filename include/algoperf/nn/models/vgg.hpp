#pragma once

#include <array>
#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/batch_norm.hpp"
#include "../layers/conv2d.hpp"
#include "../layers/dense.hpp"
#include "../layers/dropout.hpp"
#include "../layers/max_pool.hpp"
#include "../layers/relu.hpp"

namespace algoperf {

// A VGG network: five stages of 3 x 3 convolutions with an activation, each followed by 2 x 2 max pooling, then two
// dense hidden layers and a dense layer to the logits. The stages have filters, 2, 4, 8 and 8 times `filters`. A model
// function of the field "input", images of shape `in`, whose extents are at least 32.
//   TrainingLoop loop(Vgg<>{.filters = 16}, SoftmaxCrossEntropy{}, momentum(), ...);
// Tensors: stage.<s>.conv.<i>, stage.<s>.norm.<i> with batch_norm, dense_1, dense_2, logits.
// Hyperparameters: convolutions, in each stage: {1, 1, 2, 2, 2} is VGG-11 (configuration A), {2, 2, 2, 2, 2} VGG-13,
//   {2, 2, 3, 3, 3} VGG-16, {2, 2, 4, 4, 4} VGG-19; hidden, the units of the hidden layers; batch_norm: after each
//   convolution, which then has no bias; dropout, after each hidden layer.
// Source: Simonyan & Zisserman 2015, arXiv:1409.1556, table 1. With 64 filters, 4096 hidden units, 1000 classes and
//   images of 224 x 224 pixels it is torchvision's vgg11, but for the biases before batch norms. Weights start He
//   normal, those of the logits normal with variance 1 / fan in.
template <class Activation = Relu>
struct Vgg {
  std::array<std::size_t, 5> convolutions = {1, 1, 2, 2, 2};
  std::size_t filters = 8, hidden = 64, classes = 10;
  bool batch_norm = false;
  double dropout = 0;
  Shape in = {32, 32, 3};

  template <class Net>
  constexpr Value operator()(Net& net) const {
    net.check(in.rank == 3 && in[0] >= 32 && in[1] >= 32, {}, "the images have shape ", in,
              ", expected {rows, columns, channels} with at least 32 rows and columns");
    Value x = net.field("input", in);
    for (std::size_t stage = 0; stage < convolutions.size(); ++stage) {
      const typename Net::Scope scope(net, {"stage", stage});
      const Conv2d conv{.filters = filters << (stage < 3 ? stage : 3), .padding = 1, .bias = !batch_norm};
      for (std::size_t i = 0; i < convolutions[stage]; ++i) {
        x = net({"conv", i}, conv, x);
        if (batch_norm) x = net({"norm", i}, BatchNorm{}, x);
        x = net({"act", i}, Activation{}, x);
      }
      x = net("pool", MaxPool{}, x);
    }
    x = net.reshape(x, {x.shape.size()});
    x = dropped(net, "drop_1", net("act_1", Activation{}, net("dense_1", Dense{.units = hidden}, x)));
    x = dropped(net, "drop_2", net("act_2", Activation{}, net("dense_2", Dense{.units = hidden}, x)));
    return net("logits", Dense{.units = classes, .init = Init::lecun_normal, .output_layer = true}, x);
  }

 private:
  template <class Net>
  constexpr Value dropped(Net& net, const char* name, Value x) const {
    return dropout != 0 ? net(name, Dropout{.rate = dropout}, x) : x;
  }
};

}  // namespace algoperf
