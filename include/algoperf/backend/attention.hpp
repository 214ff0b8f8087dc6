// AttentionShape: the parameters of scaled dot-product attention, for backends with a faster implementation than loops
// over rows (nn/ops/attention_rows.hpp).
#pragma once

#include <cstddef>

#include "../core/config.hpp"

namespace algoperf {

// Each example has `queries` rows of queries, and `keys` rows of keys and of values. A row holds heads x size elements.
// Rows are query_stride or key_stride elements apart; those of the output are contiguous.
struct AttentionShape {
  std::size_t examples, queries, keys, heads, size;
  std::size_t query_stride, key_stride;
  bool causal;   // a query reads the keys up to its own place; queries == keys
  double scale;  // of the scores

  ALGOPERF_HD constexpr std::size_t width() const { return heads * size; }
  // Returns the number of keys that a query reads.
  ALGOPERF_HD constexpr std::size_t visible(std::size_t query) const { return causal ? query + 1 : keys; }
};

// The arrays of a head of an example: element 0 of its first row.
template <class S>
struct AttentionInputs {
  const S *query, *key, *value;
};
// Null if nobody needs the gradients: `query`, or both `key` and `value`.
template <class S>
struct AttentionGradients {
  S *query, *key, *value;
};

// backend.attention(shape) returns an object with
//   forward(inputs, out, log_sums)   log_sums[(example queries + query) heads + head], of type Scalar, is the log of
//                                    the sum of exp(scaled scores)
//   backward(inputs, out, log_sums, d_out, gradients)   writes the gradients
template <class B>
concept AttendingBackend = requires(const B& backend, const AttentionShape& shape) {
  backend.attention(shape);
};

}  // namespace algoperf
