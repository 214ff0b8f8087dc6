#pragma once

#include <cstddef>

#include "../layers/average_pool.hpp"
#include "../layers/conv2d.hpp"
#include "../layers/conv_transpose2d.hpp"
#include "../layers/group_norm.hpp"
#include "../layers/instance_norm.hpp"
#include "../layers/leaky_relu.hpp"
#include "../ops/concat.hpp"

namespace algoperf {

// A U-Net, which maps an image to an image of the same shape. A contracting path of blocks and 2 x 2 average pools
// halves the image `pools` times and doubles the channels. An expanding path of transposed convolutions and blocks
// reverses this. Each of its blocks also reads the output of the contracting block of the same size. A model function
// of the field "input", images of shape `in`, whose rows and columns are multiples of 2^pools, and not both equal to
// it: an instance norm of one pixel is zero.
//   TrainingLoop loop(UNet<>{.in = {32, 32, 1}}, MeanAbsoluteError{}, adamw(), ...);
// A block consists of two 3 x 3 convolutions without biases, each followed by an instance norm and the activation. An
// instance norm and the activation also follow each transposed convolution, which has size and stride 2 and no bias. A
// 1 x 1 convolution with a bias gives the output.
// Tensors: down.<level>.conv_1, down.<level>.conv_2, bottom.conv_1, bottom.conv_2; from the last level to the first,
//   up.<level>.up, up.<level>.conv_1, up.<level>.conv_2; output.
// Hyperparameters: channels of the first block; pools at least 1; layer_norm: the norms of the blocks are layer norms
//   over a whole example with a scale and a bias per channel, norm_1 and norm_2 after conv_1 and conv_2; activation.
// Source: Ronneberger et al. 2015, arXiv:1505.04597, figure 1, as changed in AlgoPerf's fastmri after Zbontar et al.
//   2018, arXiv:1811.08839: padding, average pools, instance norms, leaky ReLUs with slope 0.2. All convolutions start
//   as LeCun normal.
template <class Activation = LeakyRelu>
struct UNet {
  std::size_t channels = 8;
  std::size_t pools = 2;
  bool layer_norm = false;
  Shape in = {32, 32, 1};
  Activation activation = default_activation();

  template <class Net>
  constexpr Value operator()(Net& net) const {
    const std::size_t multiple = pools < 32 ? std::size_t{1} << pools : 0;
    net.check(pools > 0 && multiple > 0, {}, "UNet has pools ", pools, ", expected 1 to 31");
    net.check(in.rank == 3 && in.size() > 0 && in[0] % multiple == 0 && in[1] % multiple == 0, {},
              "the images have shape ", in, ", expected rows and columns that are multiples of ", multiple);
    net.check(in[0] > multiple || in[1] > multiple, {}, "the images have shape ", in,
              ", whose last block has one pixel, expected more than ", multiple, " rows or columns");
    Value skips[32];
    Value x = net.field("input", in);
    for (std::size_t level = 0; level < pools; ++level) {
      const typename Net::Scope scope(net, {"down", level});
      skips[level] = block(net, x, channels << level);
      x = net("pool", AveragePool{}, skips[level]);
    }
    {
      const typename Net::Scope scope(net, "bottom");
      x = block(net, x, channels << pools);
    }
    for (std::size_t level = pools; level-- > 0;) {
      const typename Net::Scope scope(net, {"up", level});
      const ConvTranspose2d up{.filters = channels << level, .init = Init::lecun_normal, .bias = false};
      x = net("up_act", activation, net("up_norm", InstanceNorm{}, net("up", up, x)));
      x = block(net, net("concat", Concat{}, x, skips[level]), channels << level);
    }
    const Conv2d output{.filters = in[2], .size = 1, .init = Init::lecun_normal, .output_layer = true};
    return net("output", output, x);
  }

 private:
  static constexpr Activation default_activation() {
    if constexpr (requires(Activation a) { a.slope = 0.2; })
      return {.slope = 0.2};
    else
      return {};
  }
  template <class Net>
  constexpr Value block(Net& net, Value x, std::size_t filters) const {
    const Conv2d conv{.filters = filters, .padding = 1, .init = Init::lecun_normal, .bias = false};
    x = net("act_1", activation, norm(net, "norm_1", net("conv_1", conv, x)));
    return net("act_2", activation, norm(net, "norm_2", net("conv_2", conv, x)));
  }
  template <class Net>
  constexpr Value norm(Net& net, const char* name, Value x) const {
    return layer_norm ? net(name, GroupNorm{.eps = 1e-6}, x) : net(name, InstanceNorm{}, x);
  }
};

}  // namespace algoperf
