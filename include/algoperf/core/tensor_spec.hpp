// TensorSpec: the name, role and shape of a parameter tensor. Rules select tensors by these (partition, masks).
#pragma once

#include <cstdint>
#include <string>

#include "shape.hpp"

namespace algoperf {

// The roles of a tensor, after AlgoPerf's ParameterType (Dahl et al. 2023).
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
  bool output = false;  // part of the layer that computes the model's outputs (AlgoPerf's is_output_params)
  // Not trained and not passed to rules: a batch norm's running mean or variance. The layer's backward writes the
  // amount that a step subtracts from it, in place of a gradient.
  bool buffer = false;
  bool fixed = false;  // never updated: a tensor of a layer in StopGradient

  bool trained() const { return !buffer && !fixed; }
};

// Predicates of tensors, for partition and masked. Any callable of a TensorSpec can serve as one.

// Tensors that weight decay usually applies to: weights, embeddings and attention matrices of rank >= 2. Biases and
// normalisation scales are excluded, whatever their rank.
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

// Tensors suited to matrix rules: decayable, with more than one row and column, and neither an embedding nor in the
// output layer.
struct Matrices {
  bool operator()(const TensorSpec& tensor) const {
    const bool hidden = tensor.kind != Kind::embedding && !tensor.output;
    return decayable(tensor) && tensor.shape.rows() > 1 && tensor.shape.cols() > 1 && hidden;
  }
};
inline constexpr Matrices matrices;

// Tensors whose names start with `beginning`: Named{"0."} selects the first layer of a Sequential, but Named{"1"}
// selects layers 1, 10, 11 and so on. Matching no tensor is not an error; loop.layout() lists the names.
struct Named {
  const char* beginning = "";
  bool operator()(const TensorSpec& tensor) const { return tensor.name.rfind(beginning, 0) == 0; }
};

// All tensors: the last predicate of a partition.
struct Otherwise {
  bool operator()(const TensorSpec&) const { return true; }
};
inline constexpr Otherwise otherwise;

}  // namespace algoperf
