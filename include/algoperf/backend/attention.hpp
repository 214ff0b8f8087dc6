// AttentionShape: the parameters of scaled dot-product attention, for backends with a faster implementation than loops
// over rows (nn/ops/attention_rows.hpp).
#pragma once

#include <cstddef>
#include <utility>

#include "../core/example_rows.hpp"

namespace algoperf {

// Scores become weights by exp(score) (softmax) or max(score, 0) (relu), divided by the row's sum. If no score is above
// 0, all relu weights are 0.
enum class AttentionWeights { softmax, relu };

// Each example has rows of queries, and rows of keys and of values. A row holds heads x size elements. Rows are
// query_stride or key_stride elements apart; those of the output are contiguous.
struct AttentionShape {
  std::size_t examples, heads, size;
  ExampleRows queries, keys;            // in the backend's memory
  std::size_t most_queries, most_keys;  // of an example
  std::size_t query_stride, key_stride;
  bool causal;   // row i of the queries attends to keys [0, i]; queries and keys are the same rows
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
// Where to write the gradients. Null means not needed. `key` and `value` are both null or both not null.
template <class S>
struct AttentionGradients {
  S *query, *key, *value;
};

// backend.attention(shape) returns an object with
//   forward(inputs, out, log_sums)   log_sums[row heads + head] belongs to a row of queries: with softmax, the log of
//                                    the sum of exp(scaled score); with relu, the sum of the positive scores
//   backward(inputs, out, log_sums, d_out, gradients)   writes the gradients
// If the type of this object declares most_head_size, it supports heads of at most that size. It supports
// AttentionWeights::relu if it declares a static constant relu_weights, which is true. Loops over rows process the
// rest.
template <class B>
concept AttendingBackend = requires(const B& backend, const AttentionShape& shape) {
  backend.attention(shape);
};

namespace detail {

template <class B>
using AttentionOf = decltype(std::declval<const B&>().attention(std::declval<const AttentionShape&>()));
template <class B>
concept LimitsHeads = requires {
  AttentionOf<B>::most_head_size;
};
template <class B>
concept HasReluWeights = requires {
  requires AttentionOf<B>::relu_weights;
};

}  // namespace detail

// Whether the backend implements attention for heads of any size, with both kinds of weights.
template <class B>
inline constexpr bool attends_always = !detail::LimitsHeads<B> && detail::HasReluWeights<B>;

// Returns whether the backend implements attention of this shape.
template <AttendingBackend B>
constexpr bool attends(const AttentionShape& shape) {
  if (shape.weights == AttentionWeights::relu && !detail::HasReluWeights<B>) return false;
  if constexpr (detail::LimitsHeads<B>)
    return shape.size <= detail::AttentionOf<B>::most_head_size;
  else
    return true;
}

}  // namespace algoperf
