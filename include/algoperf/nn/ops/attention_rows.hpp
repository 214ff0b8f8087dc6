// Attention by rows, for any backend: a team per example and head. It stores one row of scores at a time.
#pragma once

#include <cstddef>

#include "../../backend/attention.hpp"
#include "../../core/half.hpp"
#include "../../core/math.hpp"

namespace algoperf::detail {

// What the functors share. Scores, sums and products are computed in T, the parameters' type.
template <class S>
struct AttentionRows {
  using T = Arithmetic<S>;
  AttentionShape shape;
  AttentionInputs<S> in;
  T scale;
  T *of_queries, *of_keys;  // memory for two elements per head and row of queries, and of keys; both may be the same

  ALGOPERF_HD const S* query(std::size_t e, std::size_t i, std::size_t h) const {
    return in.query + (shape.queries.begin(e) + i) * shape.query_stride + h * shape.size;
  }
  ALGOPERF_HD std::size_t key_place(std::size_t e, std::size_t j, std::size_t h) const {
    return (shape.keys.begin(e) + j) * shape.key_stride + h * shape.size;
  }
  ALGOPERF_HD std::size_t out_place(std::size_t e, std::size_t i, std::size_t h) const {
    return (shape.queries.begin(e) + i) * shape.width() + h * shape.size;
  }
  ALGOPERF_HD std::size_t log_sum_place(std::size_t e, std::size_t i, std::size_t h) const {
    return (shape.queries.begin(e) + i) * shape.heads + h;
  }
  // Return the memory of head h: two elements per row of the example.
  ALGOPERF_HD T* query_memory(std::size_t e, std::size_t h) const {
    return of_queries + 2 * (shape.queries.begin(e) * shape.heads + h * shape.queries.count(e));
  }
  ALGOPERF_HD T* key_memory(std::size_t e, std::size_t h) const {
    return of_keys + 2 * (shape.keys.begin(e) * shape.heads + h * shape.keys.count(e));
  }
  ALGOPERF_HD bool is_relu() const { return shape.weights == AttentionWeights::relu; }
  ALGOPERF_HD T above_zero(T x) const { return x > T(0) ? x : T(0); }
  ALGOPERF_HD T product(const S* a, const S* b) const {
    T total = 0;
    for (std::size_t c = 0; c < shape.size; ++c) total += T(a[c]) * T(b[c]);
    return total;
  }
};

template <class S>
struct AttentionForward {
  using T = Arithmetic<S>;
  AttentionRows<S> rows;
  S* out;
  T* log_sums;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const AttentionRows<S> a = rows;
    const std::size_t e = r / a.shape.heads, h = r % a.shape.heads;
    T* const scores = a.key_memory(e, h);
    const std::size_t queries = a.shape.queries.count(e);
    for (std::size_t i = 0; i < queries; ++i) {
      const std::size_t n = a.shape.visible(e, i);
      const S* const q = a.query(e, i, h);
      team.each(n, [=](std::size_t j) { scores[j] = a.scale * a.product(q, a.in.key + a.key_place(e, j, h)); });
      T log_sum = 0;
      if (a.is_relu()) {
        log_sum = team.template sum<T>(n, [=](std::size_t j) { return a.above_zero(scores[j]); });
        team.each(n, [=](std::size_t j) { scores[j] = scores[j] > T(0) ? scores[j] / log_sum : T(0); });
      } else if (n > 0) {
        const T top = team.template max<T>(n, [=](std::size_t j) { return scores[j]; });
        const T total = team.template sum<T>(n, [=](std::size_t j) { return math::exp(scores[j] - top); });
        log_sum = top + math::log(total);
        team.each(n, [=](std::size_t j) { scores[j] = math::exp(scores[j] - log_sum); });
      }
      S* const y = out + a.out_place(e, i, h);
      team.each(a.shape.size, [=](std::size_t c) {
        T sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += scores[j] * T(a.in.value[a.key_place(e, j, h) + c]);
        y[c] = S(sum);
      });
      log_sums[a.log_sum_place(e, i, h)] = log_sum;
    }
  }
};

// For a query i and a key j: p = exp(score - log_sum) and ds = scale p (d_out . v - d_out . out); with relu,
// p = score / sum and ds = scale (d_out . v - d_out . out) / sum where score > 0, else both are 0. Then
//   dq_i = sum_j ds k_j,   dk_j = sum_i ds q_i,   dv_j = sum_i p d_out_i.
template <class S>
struct AttentionBackward {
  using T = Arithmetic<S>;
  AttentionRows<S> rows;
  const S* out;
  const T* log_sums;
  const S* d_out;
  AttentionGradients<S> d;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const AttentionRows<S> a = rows;
    const AttentionBackward<S> b = *this;
    const std::size_t e = r / a.shape.heads, h = r % a.shape.heads;
    const std::size_t queries = a.shape.queries.count(e), keys = a.shape.keys.count(e);
    const auto find = [=](std::size_t i, std::size_t j, T* slope, T* weight) {
      const S* const dy = b.d_out + a.out_place(e, i, h);
      const std::size_t key = a.key_place(e, j, h);
      const T score = a.scale * a.product(a.query(e, i, h), a.in.key + key);
      const T log_sum = b.log_sums[a.log_sum_place(e, i, h)];
      const bool none = a.is_relu() && !(score > T(0));
      const T p = none ? T(0) : a.is_relu() ? score / log_sum : math::exp(score - log_sum);
      const T derivative = none ? T(0) : a.is_relu() ? T(1) / log_sum : p;
      *weight = p;
      *slope = a.scale * derivative * (a.product(dy, a.in.value + key) - a.product(dy, b.out + a.out_place(e, i, h)));
    };
    for (std::size_t i = 0; d.query != nullptr && i < queries; ++i) {
      T *const slopes = a.key_memory(e, h), *const weights = slopes + keys;
      const std::size_t n = a.shape.visible(e, i);
      team.each(n, [=](std::size_t j) { find(i, j, slopes + j, weights + j); });
      S* const dq = d.query + (a.shape.queries.begin(e) + i) * a.shape.query_stride + h * a.shape.size;
      team.each(a.shape.size, [=](std::size_t c) {
        T sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += slopes[j] * T(a.in.key[a.key_place(e, j, h) + c]);
        dq[c] = S(sum);
      });
    }
    for (std::size_t j = 0; d.key != nullptr && j < keys; ++j) {
      T *const slopes = a.query_memory(e, h), *const weights = slopes + queries;
      const std::size_t first = a.shape.causal ? j : 0, n = queries - first;
      team.each(n, [=](std::size_t k) { find(first + k, j, slopes + k, weights + k); });
      S *const dk = d.key + a.key_place(e, j, h), *const dv = d.value + a.key_place(e, j, h);
      team.each(a.shape.size, [=](std::size_t c) {
        T of_key = 0, of_value = 0;
        for (std::size_t k = 0; k < n; ++k) {
          of_key += slopes[k] * T(a.query(e, first + k, h)[c]);
          of_value += weights[k] * T(b.d_out[a.out_place(e, first + k, h) + c]);
        }
        dk[c] = S(of_key);
        dv[c] = S(of_value);
      });
    }
  }
};

}  // namespace algoperf::detail
