#pragma once

#include "../layers/conv2d.hpp"
#include "../layers/dense.hpp"
#include "../layers/flatten.hpp"
#include "../layers/max_pool.hpp"
#include "../layers/relu.hpp"
#include "../model.hpp"

namespace algoperf {

// The sizes of a simple CNN; the defaults are the paper's base model.
struct SimpleCnn {
  std::size_t filters1 = 32;
  std::size_t filters2 = 64;
  std::size_t units = 1024;
  std::size_t size = 5;  // of the kernels, odd
};

// A convolutional network: two convolutions that keep the image's size, each with an activation and 2 x 2 max pooling;
// a dense hidden layer with an activation; and a dense layer to `classes` logits.
//   constexpr auto small = simple_cnn(Shape{28, 28, 1}, 10, {.filters1 = 8, .filters2 = 16, .units = 128});
// Shapes: in {rows, columns, channels}, both extents at least 4; out {classes}.
// Source: Shallue et al. 2018, arXiv:1811.03600, the Simple CNN, with ReLUs.
// Initial values: the model's (He normal) before an activation, normal with variance 1 / fan in before the logits,
//   biases 0.
template <class Activation = Relu>
constexpr auto simple_cnn(Shape in, std::size_t classes, const SimpleCnn& sizes = {}) {
  const Conv2d first{.filters = sizes.filters1, .size = sizes.size, .padding = sizes.size / 2};
  const Conv2d second{.filters = sizes.filters2, .size = sizes.size, .padding = sizes.size / 2};
  return Model(in, first, Activation{}, MaxPool{}, second, Activation{}, MaxPool{}, Flatten{},
               Dense{.units = sizes.units}, Activation{},
               Dense{.units = classes, .init = Init::lecun_normal, .output_layer = true});
}

}  // namespace algoperf
