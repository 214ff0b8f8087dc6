#pragma once

#include "../layers/dense.hpp"
#include "../model.hpp"

namespace algoperf {

// Softmax regression's model: one dense layer from `in`, of any shape, to the logits of `classes`.
// First values: normal with variance 1 / in.size(), biases 0.
constexpr auto linear_model(Shape in, std::size_t classes) {
  return Model(in, Dense{.units = classes, .init = Init::lecun_normal, .output_layer = true});
}

}  // namespace algoperf
