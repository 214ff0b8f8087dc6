// What training costs, counted operation by operation; in constant evaluation where the model is a constant. Layers and
// losses tell a tally what they do. A tally is any type with
//   operation(Operation)    something is done
//   hold(n)  release(n)     n numbers of memory are needed from here on, or no longer
//   gradient(n, part)       the same as hold, of the gradients of n parameters
#pragma once

#include <cstddef>
#include <cstdint>

#include "config.hpp"

namespace algoperf {

// What of a model an operation or parameter belongs to: some count a model's size or its FLOPs without its ends.
enum class ModelPart { body, embedding, output };

// One operation on whole arrays. A multiply-add is two FLOPs; a sum, a product, a quotient, a comparison that chooses,
// a square root, an exponential and a logarithm are one each; signs, copies and conversions are none. Numbers are
// counted as read and written once each, however often an operation comes back to them.
struct Operation {
  const char* name = "";
  std::uint64_t flops = 0;
  std::uint64_t read = 0, written = 0;
  std::uint64_t m = 0, n = 0, k = 0;  // of a product of an m x k and a k x n matrix; else 0
  ModelPart part = ModelPart::body;

  constexpr bool is_product() const { return m > 0; }
};

constexpr Operation matrix_product(const char* name, std::uint64_t m, std::uint64_t n, std::uint64_t k,
                                   ModelPart part = ModelPart::body) {
  return {name, 2 * m * n * k, m * k + k * n, m * n, m, n, k, part};
}
// Not a product.
constexpr Operation operation_of(ModelPart part, const char* name, std::uint64_t flops, std::uint64_t read,
                                 std::uint64_t written) {
  return {name, flops, read, written, 0, 0, 0, part};
}

// What one example costs a model.
struct Cost {
  std::uint64_t parameters = 0;
  std::uint64_t forward_flops = 0;
  std::uint64_t backward_flops = 0;  // of the gradients of weights and inputs, but not of the model's own input
  std::uint64_t activations = 0;     // numbers kept from forward to backward

  constexpr std::uint64_t flops() const { return forward_flops + backward_flops; }
  friend constexpr bool operator==(const Cost&, const Cost&) = default;
};

// A tally that sums.
struct CostSum {
  std::uint64_t flops = 0, held = 0;

  constexpr void operation(const Operation& o) { flops += o.flops; }
  constexpr void hold(std::uint64_t n) { held += n; }
  constexpr void release(std::uint64_t n) { held -= n; }
  constexpr void gradient(std::uint64_t n, ModelPart) { held += n; }
};

}  // namespace algoperf
