// What speech recognisers do first: convolutions that make one row of every four frames.
#pragma once

#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/conv2d.hpp"
#include "../layers/dense.hpp"

namespace algoperf::detail {

// dense(act(conv_2(act(conv_1(input))))), rows of `width` elements on the ragged axis "frames". Row i of the field
// "input" holds the log-mel frames from 4 i to 4 i + 6, {7, bands, 1}: what two convolutions of size 3 and stride 2
// read for one of their outputs (data/speech_fields.hpp). Tensors: conv_1, conv_2, subsampled, with biases. Initial
// values: Glorot uniform.
template <class Net, class Activation>
constexpr Value subsampled_speech(Net& net, std::size_t bands, std::size_t width, const Activation& activation) {
  net.check(bands >= 7, {}, "the model has bands ", bands, ", expected at least 7");
  const Conv2d conv{.filters = width, .stride = 2, .init = Init::glorot_uniform};
  Value x = net.field("input", {7, bands, 1}, net.ragged_axis("frames"));
  x = net("act_2", activation, net("conv_2", conv, net("act_1", activation, net("conv_1", conv, x))));
  return net("subsampled", Dense{.units = width, .init = Init::glorot_uniform}, x);
}

}  // namespace algoperf::detail
