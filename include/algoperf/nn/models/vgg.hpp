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

// A VGG network. Each of five stages has 3 x 3 convolutions with activations, and ends with 2 x 2 max pooling. Two
// dense hidden layers and the dense layer of the logits follow. The convolutions of stages 0 to 4 have 1, 2, 4, 8 and 8
// times `filters` filters. A model function of the field "input": images of shape `in`, of at least 32 x 32 pixels.
//   TrainingLoop loop(Vgg<>{.filters = 16}, SoftmaxCrossEntropy{}, momentum(), ...);
// Tensors: stage.<s>.conv.<i>, stage.<s>.norm.<i> with batch_norm, dense_1, dense_2, logits.
// Hyperparameters: convolutions, in each stage: {1, 1, 2, 2, 2} is VGG-11 (configuration A), {2, 2, 2, 2, 2} VGG-13,
//   {2, 2, 3, 3, 3} VGG-16, {2, 2, 4, 4, 4} VGG-19; hidden, the units of the hidden layers; batch_norm, which adds a
//   batch norm after each convolution and removes the convolution's bias; dropout, after each hidden layer.
// Source: Simonyan & Zisserman 2015, arXiv:1409.1556, table 1. With 64 filters, 4096 hidden units, 1000 classes,
//   dropout 0.5 and images of 224 x 224 pixels, the layers are those of torchvision's vgg11; with batch_norm, those of
//   vgg11_bn without the biases of the convolutions, and with the pixels of the last stage in the order rows, columns,
//   channels. Weights start He normal, those of the logits normal with variance 1 / fan in.
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
