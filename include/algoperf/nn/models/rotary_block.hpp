#pragma once

#include <cstddef>

#include "../graph/recorder.hpp"
#include "../layers/dense.hpp"
#include "../layers/glu.hpp"
#include "../layers/rms_norm.hpp"
#include "../ops/attention.hpp"
#include "../ops/query_key_norm.hpp"
#include "../ops/rotary_positions.hpp"
#include "../ops/sum.hpp"

namespace algoperf {

// A block of a decoder with rotary positions and without biases:
//   x = x + out(attention(query_key_norm(rotary(qkv(norm_1(x)))))),   y = x + down(glu(up(norm_2(x))))
// Attention is causal, with a scale of 1.
// Shapes: in {width} on an axis with several rows per example, out the same. Tensors: norm_1.scale, qkv {3 width,
//   width}, query_key_norm.scale {1}, out {width, width}, norm_2.scale, up {2 hidden, width}, down {width, hidden}.
// Hyperparameters: heads, which must divide the width into heads of even size; hidden, 0 for 4 width; base, of the
//   angles; attention_scale, the initial value of query_key_norm.scale; init, of the dense layers; branch_init, of
//   `out` and `down`.
// Source: AlgoPerf's language model (finewebedu_lm).
struct RotaryBlock {
  std::size_t heads = 4;
  std::size_t hidden = 0;
  double base = 500000;
  double attention_scale = 12;
  Init init = Init::small_normal;
  Init branch_init = Init::small_normal;

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const std::size_t width = x.shape.size(), inner = hidden == 0 ? 4 * width : hidden;
    net.check(heads > 0 && width % (2 * heads) == 0, {}, "heads is ", heads, ", expected a divisor of half the width, ",
              width);
    Value y = net("norm_1", RmsNorm{}, x);
    y = net("qkv", Dense{.units = 3 * width, .init = init, .bias = false}, y);
    y = net("rotary", RotaryPositions{.size = width / heads, .columns = 2 * width, .base = base}, y);
    y = net("query_key_norm", QueryKeyNorm{.heads = heads, .init = Init::constant(attention_scale)}, y);
    y = net("attention", Attention{.heads = heads, .causal = true, .scale = 1}, y);
    x = net("sum_1", Sum{}, x, net("out", Dense{.units = width, .init = branch_init, .bias = false}, y));
    y = net("norm_2", RmsNorm{}, x);
    y = net("glu", Glu{}, net("up", Dense{.units = 2 * inner, .init = init, .bias = false}, y));
    return net("sum_2", Sum{}, x, net("down", Dense{.units = width, .init = branch_init, .bias = false}, y));
  }
};

}  // namespace algoperf
