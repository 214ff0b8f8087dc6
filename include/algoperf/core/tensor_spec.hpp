// TensorSpec: what a parameter tensor is called, what it is for, and its shape. Rules choose by these (partition,
// masks).
#pragma once

#include <cstdint>
#include <string>

#include "shape.hpp"

namespace algoperf {

// The roles AlgoPerf's ParameterType names (Dahl et al. 2023).
enum class Kind : std::uint8_t {
  weight,
  bias,
  conv_weight,
  embedding,
  layer_norm_scale,
  layer_norm_bias,
  batch_norm_scale,
  batch_norm_bias,
  attention_q,
  attention_k,
  attention_v,
  attention_out,
  attention_bias,
};

struct TensorSpec {
  std::string name;
  Kind kind = Kind::weight;
  Shape shape;
  bool output = false;  // part of the layer that makes the model's outputs (AlgoPerf's is_output_params)
  // Not moved by rules, which do not see it: a batch norm's mean or variance. Its "gradient" is what a step takes off.
  bool buffer = false;
  bool fixed = false;  // moved by nothing: of a layer in StopGradient

  bool trained() const { return !buffer && !fixed; }
};

// Predicates over tensors, for partition and masked; write your own as any callable of a TensorSpec.

// Tensors that weight decay is usually meant for: of rank >= 2, but no bias and no scale of a norm whatever its rank.
struct Decayable {
  bool operator()(const TensorSpec& tensor) const {
    const bool weighs = tensor.kind == Kind::weight || tensor.kind == Kind::conv_weight ||
                        tensor.kind == Kind::embedding || tensor.kind == Kind::attention_q ||
                        tensor.kind == Kind::attention_k || tensor.kind == Kind::attention_v ||
                        tensor.kind == Kind::attention_out;
    return weighs && tensor.shape.rank >= 2;
  }
};
inline constexpr Decayable decayable;

// Matrices that matrix rules take: decayable, with several rows and columns, and neither an embedding nor of the output
// layer.
struct Matrices {
  bool operator()(const TensorSpec& tensor) const {
    const bool hidden = tensor.kind != Kind::embedding && !tensor.output;
    return decayable(tensor) && tensor.shape.rows() > 1 && tensor.shape.cols() > 1 && hidden;
  }
};
inline constexpr Matrices matrices;
// Tensors whose names begin so: Named{"0."} is the first layer of a Sequential; Named{"1"} would be 1., 10. and 11.,
// too. One that fits no name chooses nothing, which is no error: loop.layout() lists the names.
struct Named {
  const char* beginning = "";
  bool operator()(const TensorSpec& tensor) const { return tensor.name.rfind(beginning, 0) == 0; }
};

struct Otherwise {
  bool operator()(const TensorSpec&) const { return true; }
};
inline constexpr Otherwise otherwise;

}  // namespace algoperf
