// Causal attention in decoding: the newest element of each sequence attends to the sequence.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../../backend/attention.hpp"
#include "../../core/half.hpp"
#include "../graph/decoding_step.hpp"
#include "../log_sums.hpp"

namespace algoperf::detail {

// For row i = r / heads and head h = r % heads. Keeps the row's key and value, {2 width} at each element. Scores, sums
// and products are computed in T, the parameters' type.
template <class S>
struct AttentionStep {
  using T = Arithmetic<S>;
  AttentionShape shape;
  GrowingSequences sequences;
  AttentionInputs<S> in;
  S* kept;
  T* weights;  // memory for the weights of each row and head
  S* out;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const AttentionStep a = *this;
    const std::size_t i = r / shape.heads, h = r % shape.heads, size = shape.size;
    const std::size_t n = sequences.place + 1, from = i * shape.query_stride + h * size;
    // No other row reads these elements in this step.
    team.copy(size, in.key + from, key(i, h, n - 1));
    team.copy(size, in.value + from, value(i, h, n - 1));

    const bool relu = shape.weights == AttentionWeights::relu;
    const S* const query = in.query + from;
    const T scale = static_cast<T>(shape.scale);
    T* const weight = weights + r * sequences.most_steps;
    team.each(n, [=](std::size_t s) {
      const T score = scale * a.product(team, query, a.key(i, h, s));
      weight[s] = relu && score < T(0) ? T(0) : score;
    });
    if (!relu) {
      const T top = team.template max<T>(n, [=](std::size_t s) { return weight[s]; });
      team.map(ExponentialBelow<T>{top}, n, weight, static_cast<const T*>(weight));
    }
    const T total = team.template sum<T>(n, [=](std::size_t s) { return weight[s]; });
    const T factor = total == T(0) ? T(0) : T(1) / total;
    S* const y = out + i * shape.width() + h * size;
    if constexpr (Team::size == 1 && std::is_same_v<S, T>) {  // row by row, by SIMD vectors
      for (std::size_t c = 0; c < size; ++c) y[c] = T(0);
      for (std::size_t s = 0; s < n; ++s) {
        const T w = weight[s] * factor;
        const S* const v = value(i, h, s);
        for (std::size_t c = 0; c < size; ++c) y[c] += w * v[c];
      }
    } else {
      team.each(size, [=](std::size_t c) {
        T sum = 0;
        for (std::size_t s = 0; s < n; ++s) sum += weight[s] * T(a.value(i, h, s)[c]);
        y[c] = S(factor * sum);
      });
    }
  }
  ALGOPERF_HD S* key(std::size_t i, std::size_t h, std::size_t s) const {
    return kept + sequences.element(i, s) * 2 * shape.width() + h * shape.size;
  }
  ALGOPERF_HD S* value(std::size_t i, std::size_t h, std::size_t s) const { return key(i, h, s) + shape.width(); }
  // Called by one thread of a team. If it is the only one, the sum uses SIMD vectors.
  template <class Team>
  ALGOPERF_HD T product(const Team& team, const S* x, const S* y) const {
    if constexpr (Team::size == 1) {
      return team.template sum<T>(shape.size, [=](std::size_t c) { return T(x[c]) * T(y[c]); });
    } else {
      T sum = 0;
      for (std::size_t c = 0; c < shape.size; ++c) sum += T(x[c]) * T(y[c]);
      return sum;
    }
  }
};

}  // namespace algoperf::detail
