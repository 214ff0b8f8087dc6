#pragma once

#include "../layers/dense.hpp"
#include "../model.hpp"

namespace algoperf {

// The model of softmax regression: one dense layer from an input of any shape to `classes` logits.
// Initial values: normal with variance 1 / in.size(), biases 0.
constexpr auto linear_model(Shape in, std::size_t classes) {
  return Model(in, Dense{.units = classes, .init = Init::lecun_normal, .output_layer = true});
}

}  // namespace algoperf
