#pragma once

#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/dense.hpp"
#include "../layers/dropout.hpp"
#include "../layers/gelu.hpp"
#include "../layers/layer_norm.hpp"
#include "../ops/attention.hpp"
#include "../ops/sum.hpp"

namespace algoperf {

// A block of a Transformer with the norms first ("pre-LN"):
//   x = x + out(attention(qkv(norm_1(x)))),   y = x + down(gelu(up(norm_2(x))))
// Shapes: in {width} on an axis with several rows per example, out the same. Tensors: norm_1, qkv {3 width, width},
//   out {width, width}, norm_2, up {hidden, width}, down {width, hidden}, each with weight or scale, and bias.
// Hyperparameters: heads, which must divide the width; hidden, 0 for 4 width; causal; dropout, the rate after `out` and
//   `down`; init, of the dense layers; branch_init, of `out` and `down`.
// Source: Vaswani et al. 2017, arXiv:1706.03762; the order of Radford et al. 2019 (GPT-2), with GELU by tanh. torch's
//   TransformerEncoderLayer with norm_first, without dropout of the attention's weights and of the hidden layer.
struct TransformerBlock {
  std::size_t heads = 4;
  std::size_t hidden = 0;
  bool causal = false;
  double dropout = 0;
  Init init = Init::lecun_normal;
  Init branch_init = Init::lecun_normal;

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const std::size_t width = x.shape.size();
    Value y = net("norm_1", LayerNorm{}, x);
    y = net("qkv", Dense{.units = 3 * width, .init = init}, y);
    y = net("attention", Attention{.heads = heads, .causal = causal}, y);
    y = dropped(net, "drop_1", net("out", Dense{.units = width, .init = branch_init}, y));
    x = net("sum_1", Sum{}, x, y);
    y = net("norm_2", LayerNorm{}, x);
    y = net("up", Dense{.units = hidden == 0 ? 4 * width : hidden, .init = init}, y);
    y = net("gelu", GeluTanh{}, y);
    y = dropped(net, "drop_2", net("down", Dense{.units = width, .init = branch_init}, y));
    return net("sum_2", Sum{}, x, y);
  }

 private:
  template <class Net>
  constexpr Value dropped(Net& net, const char* name, Value x) const {
    return dropout != 0 ? net(name, Dropout{.rate = dropout}, x) : x;
  }
};

}  // namespace algoperf
