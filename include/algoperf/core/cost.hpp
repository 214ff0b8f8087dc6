// The cost of training, counted operation by operation, at compile time if the model is a constant expression. Layers
// and losses report what they do to a tally. A tally is any type with
//   operation(Operation)    an operation is executed
//   hold(n)  release(n)     memory for n elements is acquired; memory for n elements is released
//   gradient(n, part)       the same as hold, for the gradients of n parameters
//   phase(Phase)            the operations that follow belong to this phase of a training step
#pragma once

#include <cstddef>
#include <cstdint>

#include "config.hpp"

namespace algoperf {

// The part of a model that an operation or parameter belongs to. Some definitions of a model's size or FLOPs exclude
// the embedding or the output layer.
enum class ModelPart { body, embedding, output };

enum class Phase { forward, loss, backward, update };

// One operation on whole arrays. A multiply-add is two FLOPs. An addition, multiplication, division, comparison that
// selects a value, square root, exponential or logarithm is one. Sign changes, copies and conversions are none. Each
// element counts as read once and written once, regardless of how often the operation accesses it.
struct Operation {
  const char* name = "";
  std::uint64_t flops = 0;
  std::uint64_t read = 0, written = 0;
  std::uint64_t m = 0, n = 0, k = 0;  // for the product of an m x k and a k x n matrix; else 0
  ModelPart part = ModelPart::body;

  constexpr bool is_product() const { return m > 0; }
};

constexpr Operation matrix_product(const char* name, std::uint64_t m, std::uint64_t n, std::uint64_t k,
                                   ModelPart part = ModelPart::body) {
  return {name, 2 * m * n * k, m * k + k * n, m * n, m, n, k, part};
}
// Any operation that is not a matrix product.
constexpr Operation operation_of(ModelPart part, const char* name, std::uint64_t flops, std::uint64_t read,
                                 std::uint64_t written) {
  return {name, flops, read, written, 0, 0, 0, part};
}

// The cost of one example in a model.
struct Cost {
  std::uint64_t parameters = 0;
  std::uint64_t forward_flops = 0;
  std::uint64_t backward_flops = 0;  // gradients of weights and layer inputs, excluding the model's input
  std::uint64_t activations = 0;     // elements kept from forward to backward

  constexpr std::uint64_t flops() const { return forward_flops + backward_flops; }
  friend constexpr bool operator==(const Cost&, const Cost&) = default;
};

// A tally that sums FLOPs and held elements.
struct CostSum {
  std::uint64_t flops = 0, held = 0;

  constexpr void operation(const Operation& o) { flops += o.flops; }
  constexpr void hold(std::uint64_t n) { held += n; }
  constexpr void release(std::uint64_t n) { held -= n; }
  constexpr void gradient(std::uint64_t n, ModelPart) { held += n; }
  constexpr void phase(Phase) {}
};

}  // namespace algoperf
