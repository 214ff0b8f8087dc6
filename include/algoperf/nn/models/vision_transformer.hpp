#pragma once

#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/conv2d.hpp"
#include "../layers/dense.hpp"
#include "../layers/dropout.hpp"
#include "../layers/gelu.hpp"
#include "../layers/layer_norm.hpp"
#include "../layers/tanh.hpp"
#include "../ops/attention.hpp"
#include "../ops/grid_positions.hpp"
#include "../ops/pool_rows.hpp"
#include "../ops/product.hpp"
#include "../ops/repeat_tensor.hpp"
#include "../ops/sum.hpp"
#include "glorot_dense.hpp"

namespace algoperf {

// A Vision Transformer: classifies images by attention between their patches. A model function of the field "input",
// images of shape `in`, with one row of logits per example.
//   TrainingLoop loop(VisionTransformer{.classes = 10}, SoftmaxCrossEntropy{.label_smoothing = 0.1}, adamw(), ...);
// It consists of a convolution over patches, fixed positions (GridPositions), blocks of a Transformer with GELU by
// tanh, a layer norm, the mean over the patches, a dense layer with tanh, and a dense layer to the logits.
// Hyperparameters: post_norm: x = norm(x + f(x)) instead of x + f(norm(x)), without the last norm. glu: multiplies the
//   activated hidden layer h of each MLP by (gate h + bias). attention_pooling: instead of the mean, a learned query
//   attends to the patches, followed by an MLP ("MAP head").
// Tensors: patches, block.<i>.{norm_1, qkv, out, norm_2, up, gate, down}, norm, pool.{probe, query, kv, out, norm, up,
//   gate, down}, pre_logits, logits, each with weight or scale, and bias.
// Source: Dosovitskiy et al. 2021, arXiv:2010.11929, with the changes of Beyer et al. 2022, arXiv:2205.01580;
//   structure, initial values and variants of AlgoPerf's imagenet_vit, whose sizes are patch 16, width 384, 12 blocks,
//   6 heads.
//   Departure: `qkv` is one tensor. Its values start as those of three separate ones would.
struct VisionTransformer {
  std::size_t patch = 4;
  std::size_t width = 64;
  std::size_t blocks = 4;
  std::size_t heads = 4;
  std::size_t hidden = 256;
  std::size_t classes = 10;
  double dropout = 0;  // after the positions, and after each branch and hidden layer of the blocks
  bool post_norm = false, glu = false, attention_pooling = false;
  Shape in = {32, 32, 3};

  template <class Net>
  constexpr Value operator()(Net& net) const {
    net.check(patch > 0 && in.rank == 3 && in[0] % patch == 0 && in[1] % patch == 0, {}, "the images have shape ", in,
              ", expected {rows, columns, channels} with multiples of ", patch, " rows and columns");
    const Conv2d cut{.filters = width, .size = patch, .stride = patch, .init = Init::lecun_normal};
    const Value cells = net("patches", cut, net.field("input", in));
    const std::size_t columns = cells.shape[1];
    Value x = net.rows_of("patches", net.reshape(cells, {cells.shape[0] * columns, width}));
    x = dropped(net, "drop", net("positions", GridPositions{.columns = columns}, x));
    for (std::size_t i = 0; i < blocks; ++i) x = block(net, i, x);
    if (!post_norm) x = net("norm", norm, x);
    x = attention_pooling ? attended(net, x) : net("pool", PoolRows{Pooling::mean}, x);
    x = net("tanh", Tanh{}, net("pre_logits", Dense{.units = width, .init = Init::lecun_normal}, x));
    return net("logits", Dense{.units = classes, .init = Init::zeros, .output_layer = true}, x);
  }

 private:
  static constexpr LayerNorm norm{.eps = 1e-6};

  template <class Net>
  constexpr Value dropped(Net& net, const char* name, Value x) const {
    return dropout != 0 ? net(name, Dropout{.rate = dropout}, x) : x;
  }
  template <class Net>
  constexpr Value mlp(Net& net, Value x) const {
    const auto biased = [](Dense layer) {
      layer.bias_init = Init::normal(1e-6);
      return layer;
    };
    Value h = net("gelu", GeluTanh{}, net("up", biased(detail::glorot_dense(width, hidden)), x));
    if (glu) {
      const Value gate = net("gate", biased(detail::glorot_dense(hidden, hidden)), h);
      h = net("gated", Product{}, h, gate);
    }
    h = dropped(net, "drop_up", h);
    return net("down", biased(detail::glorot_dense(hidden, width)), h);
  }
  template <class Net>
  constexpr Value block(Net& net, std::size_t i, Value x) const {
    const typename Net::Scope scope(net, {"block", i});
    Value y = post_norm ? x : net("norm_1", norm, x);
    y = net("attention", Attention{.heads = heads}, net("qkv", detail::glorot_dense(width, 3 * width, 3), y));
    y = dropped(net, "drop_1", net("out", detail::glorot_dense(width, width), y));
    x = net("sum_1", Sum{}, x, y);
    if (post_norm) x = net("norm_1", norm, x);
    y = post_norm ? x : net("norm_2", norm, x);
    y = dropped(net, "drop_2", mlp(net, y));
    x = net("sum_2", Sum{}, x, y);
    return post_norm ? net("norm_2", norm, x) : x;
  }
  template <class Net>
  constexpr Value attended(Net& net, Value x) const {
    const typename Net::Scope scope(net, "pool");
    const SharedTensor probe = net.tensor("probe", Kind::weight, {1, width}, Init::glorot_uniform, 1, width);
    const Value row = net("query_row", RepeatTensor{probe, net.axis("probe", 1), width});
    const Value query = net("query", detail::glorot_dense(width, width), row);
    const Value kv = net("kv", detail::glorot_dense(width, 2 * width, 2), x);
    const Value mixed = net("attention", Attention{.heads = heads}, query, kv);
    const Value y = net("out", detail::glorot_dense(width, width), mixed);
    const Value z = mlp(net, net("norm", norm, y));
    return net.reshape(net.examples_of(net("sum", Sum{}, y, z)), {width});
  }
};

}  // namespace algoperf
