// AttentionShape: the parameters of scaled dot-product attention, for backends with a faster implementation than loops
// over rows (nn/ops/attention_rows.hpp).
#pragma once

#include <cstddef>
#include <utility>

#include "../core/example_rows.hpp"

namespace algoperf {

// How a row of scores becomes weights, which sum to 1: exp(score) or max(score, 0), divided by the row's sum.
enum class AttentionWeights { softmax, relu };

// Each example has rows of queries, and rows of keys and of values. A row holds heads x size elements. Rows are
// query_stride or key_stride elements apart; those of the output are contiguous.
struct AttentionShape {
  std::size_t examples, heads, size;
  ExampleRows queries, keys;            // in the backend's memory
  std::size_t most_queries, most_keys;  // of an example
  std::size_t query_stride, key_stride;
  bool causal;   // a query reads the keys up to its own place; queries and keys are the same rows
  double scale;  // of the scores
  AttentionWeights weights;

  ALGOPERF_HD constexpr std::size_t width() const { return heads * size; }
  // Returns the number of keys that query i of an example reads.
  ALGOPERF_HD constexpr std::size_t visible(std::size_t example, std::size_t i) const {
    return causal ? i + 1 : keys.count(example);
  }
};

// The arrays of all rows.
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
//   forward(inputs, out, log_sums)   log_sums[row heads + head], of type Scalar, is the log of the sum of exp(scaled
//                                    scores) of a row of queries; with relu, the sum of the scores that are above 0
//   backward(inputs, out, log_sums, d_out, gradients)   writes the gradients
// The type of this object may declare most_head_size: larger heads, and weights other than softmax, are then processed
// by loops over rows.
template <class B>
concept AttendingBackend = requires(const B& backend, const AttentionShape& shape) {
  backend.attention(shape);
};

namespace detail {

template <class B>
using AttentionOf = decltype(std::declval<const B&>().attention(std::declval<const AttentionShape&>()));

}  // namespace detail

// Whether the backend has attention of its own for heads of any size.
template <class B>
inline constexpr bool attends_any_head = AttendingBackend<B> && !requires {
  detail::AttentionOf<B>::most_head_size;
};

// Returns whether the backend has attention of its own of this shape.
template <AttendingBackend B>
constexpr bool attends(const AttentionShape& shape) {
  if constexpr (attends_any_head<B>)
    return true;
  else
    return shape.size <= detail::AttentionOf<B>::most_head_size && shape.weights == AttentionWeights::softmax;
}

}  // namespace algoperf
