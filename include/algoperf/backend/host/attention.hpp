// Attention of the host backend: tiles of scores by matrix products.
#pragma once

#include <cstddef>

#include "../../core/math.hpp"
#include "../attention.hpp"
#include "../products/gemm.hpp"
#include "../serial_team.hpp"
#include "../work.hpp"
#include "vector.hpp"

namespace algoperf::detail {

// exp(scale x - top)
template <class S>
struct ScaledExponential {
  S scale, top;
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return math::exp(x * T(scale) - T(top));
  }
};

// max(x, 0)
struct PositivePart {
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return math::max(x, T(0));
  }
};

template <class S>
S largest_of(std::size_t n, const S* x) {
  using V = Vector<S>;
  if (n < V::width) {
    S most = x[0];
    for (std::size_t i = 1; i < n; ++i) most = Larger{}(most, x[i]);
    return most;
  }
  V tops = V::load(x + n - V::width);  // the last whole vector, which may overlap the one before
  for (std::size_t i = 0; i + V::width <= n; i += V::width) tops = math::max(tops, V::load(x + i));
  S of_lanes[V::width];
  tops.store(of_lanes);
  return fold_halves<V::width>(of_lanes, Larger{});
}

// Runs on the threads of `HostType`. A thread computes a head of an example, so the number of threads changes no bit.
template <class HostType>
class HostAttention {
  using S = typename HostType::Scalar;

 public:
  static constexpr bool relu_weights = true;

  HostAttention(const HostType& host, const AttentionShape& shape)
      : host_(host), shape_(shape), scale_(static_cast<S>(shape.scale)) {}

  void forward(const AttentionInputs<S>& in, S* out, S* log_sums) const {
    for_each_head([&](std::size_t example, std::size_t head) { forward_head(in, out, log_sums, example, head); });
  }
  void backward(const AttentionInputs<S>& in, const S* out, const S* log_sums, const S* d_out,
                const AttentionGradients<S>& d) const {
    for_each_head(
        [&](std::size_t example, std::size_t head) { backward_head(in, out, log_sums, d_out, d, example, head); });
  }

 private:
  static constexpr std::size_t tile = 64;

  template <class F>
  void for_each_head(const F& f) const {
    host_.run_concurrently(host_.concurrency(), shape_.examples * shape_.heads,
                           [&](const HostType&, std::size_t, std::size_t i) { f(i / shape_.heads, i % shape_.heads); });
  }
  std::size_t query_place(std::size_t example, std::size_t head, std::size_t row) const {
    return (shape_.queries.begin(example) + row) * shape_.query_stride + head * shape_.size;
  }
  std::size_t key_place(std::size_t example, std::size_t head, std::size_t row) const {
    return (shape_.keys.begin(example) + row) * shape_.key_stride + head * shape_.size;
  }
  std::size_t out_place(std::size_t example, std::size_t head, std::size_t row) const {
    return (shape_.queries.begin(example) + row) * shape_.width() + head * shape_.size;
  }
  std::size_t log_sum_place(std::size_t example, std::size_t head, std::size_t row) const {
    return (shape_.queries.begin(example) + row) * shape_.heads + head;
  }
  static std::size_t smaller(std::size_t a, std::size_t b) { return b < a ? b : a; }
  static void clear(S* begin, S* end) {
    for (; begin < end; ++begin) *begin = S(0);
  }
  // Returns how many of the keys from `first` on query `row` reads, of at most `count`.
  std::size_t visible(std::size_t example, std::size_t row, std::size_t first, std::size_t count) const {
    const std::size_t all = shape_.visible(example, row);
    return all <= first ? 0 : smaller(count, all - first);
  }

  // Visits the tiles of keys in order. With softmax, a row's sum and output refer to the largest score so far, and are
  // scaled when a larger one is found.
  void forward_head(const AttentionInputs<S>& in, S* out, S* log_sums, std::size_t example, std::size_t head) const {
    alignas(64) S scores[tile * tile];
    S tops[tile], totals[tile];
    const std::size_t size = shape_.size, width = shape_.width(), queries = shape_.queries.count(example);
    for (std::size_t row = 0; row < queries; row += tile) {
      const std::size_t rows = smaller(tile, queries - row), end = shape_.visible(example, row + rows - 1);
      S* const y = out + out_place(example, head, row);
      if (end == 0) write_nothing(rows, y, log_sums + log_sum_place(example, head, row));
      for (std::size_t first = 0; first < end; first += tile) {
        const std::size_t count = smaller(tile, end - first), key = key_place(example, head, first);
        gemm_nt(rows, count, size, in.query + query_place(example, head, row), shape_.query_stride, in.key + key,
                shape_.key_stride, scores, tile, false);
        for (std::size_t r = 0; r < rows; ++r) {
          S* const of_row = scores + r * tile;
          const std::size_t n = visible(example, row + r, first, count);
          // Sums of whole vectors are faster.
          const std::size_t whole = (n + lanes - 1) / lanes * lanes;
          clear(of_row + n, of_row + (count < whole ? whole : count));
          if (first == 0) totals[r] = 0;
          if (n == 0) continue;
          if (is_relu()) {
            SerialTeam{}.map(PositivePart{}, n, of_row);
            totals[r] += sum_of(whole, of_row);
            continue;
          }
          const S top = largest_of(n, of_row) * scale_;
          if (first == 0) {
            tops[r] = top;
          } else if (top > tops[r]) {
            const S factor = math::exp(tops[r] - top);
            totals[r] *= factor;
            SerialTeam{}.map(Scale<S>{factor}, size, y + r * width);
            tops[r] = top;
          }
          SerialTeam{}.map(ScaledExponential<S>{scale_, tops[r]}, n, of_row);
          totals[r] += sum_of(whole, of_row);
        }
        gemm_nn(rows, size, count, scores, tile, in.value + key, shape_.key_stride, y, width, first > 0);
      }
      for (std::size_t r = 0; r < rows && end > 0; ++r) {
        const bool none = is_relu() && totals[r] == 0;
        SerialTeam{}.map(Scale<S>{none ? S(0) : 1 / totals[r]}, size, y + r * width);
        log_sums[log_sum_place(example, head, row + r)] = is_relu() ? totals[r] : tops[r] + math::log(totals[r]);
      }
    }
  }

  // Writes the outputs of queries of an example without keys.
  void write_nothing(std::size_t rows, S* out, S* log_sums) const {
    for (std::size_t r = 0; r < rows; ++r) {
      clear(out + r * shape_.width(), out + r * shape_.width() + shape_.size);
      log_sums[r * shape_.heads] = 0;
    }
  }

  // Computes the weights again from the logarithms of sums. attention_rows.hpp has the formulas.
  void backward_head(const AttentionInputs<S>& in, const S* out, const S* log_sums, const S* d_out,
                     const AttentionGradients<S>& d, std::size_t example, std::size_t head) const {
    alignas(64) S weights[tile * tile];
    alignas(64) S slopes[tile * tile];
    S deltas[tile];
    const std::size_t size = shape_.size, width = shape_.width();
    const std::size_t query_stride = shape_.query_stride, key_stride = shape_.key_stride;
    const std::size_t queries = shape_.queries.count(example);
    if (shape_.keys.count(example) == 0 || queries == 0) return write_no_gradients(d, example, head);
    for (std::size_t row = 0; row < queries; row += tile) {
      const std::size_t rows = smaller(tile, queries - row), end = shape_.visible(example, row + rows - 1);
      const S *const y = out + out_place(example, head, row), *const dy = d_out + out_place(example, head, row);
      const S* const q = in.query + query_place(example, head, row);
      for (std::size_t r = 0; r < rows; ++r)
        deltas[r] = SerialTeam{}.template sum<S>(
            size, [a = y + r * width, b = dy + r * width](std::size_t c) { return a[c] * b[c]; });
      for (std::size_t first = 0; first < end; first += tile) {
        const std::size_t count = smaller(tile, end - first), key = key_place(example, head, first);
        gemm_nt(rows, count, size, q, query_stride, in.key + key, key_stride, weights, tile, false);
        gemm_nt(rows, count, size, dy, width, in.value + key, key_stride, slopes, tile, false);
        for (std::size_t r = 0; r < rows; ++r) {
          S *const p = weights + r * tile, *const ds = slopes + r * tile;
          const std::size_t n = visible(example, row + r, first, count);
          const S log_sum = log_sums[log_sum_place(example, head, row + r)];
          if (is_relu()) {
            const S factor = log_sum == 0 ? S(0) : 1 / log_sum;
            SerialTeam{}.map(ReluSlopeOf<S>{factor, deltas[r]}, n, ds, static_cast<const S*>(p));
            SerialTeam{}.map(ScaledPositivePart<S>{factor}, n, p);
          } else {
            SerialTeam{}.map(ScaledExponential<S>{scale_, log_sum}, n, p);
            SerialTeam{}.map(SlopeOf<S>{scale_, deltas[r]}, n, ds, static_cast<const S*>(p));
          }
          clear(p + n, p + count);
          clear(ds + n, ds + count);
        }
        // The first tile of queries that reads these keys writes their gradients, the others add to them.
        const bool adds = row > (shape_.causal ? first : 0);
        if (d.key != nullptr) {
          gemm_tn(count, size, rows, slopes, tile, q, query_stride, d.key + key, key_stride, adds);
          gemm_tn(count, size, rows, weights, tile, dy, width, d.value + key, key_stride, adds);
        }
        if (d.query != nullptr)
          gemm_nn(rows, size, count, slopes, tile, in.key + key, key_stride, d.query + query_place(example, head, row),
                  query_stride, first > 0);
      }
    }
  }

  // Writes the gradients of an example without queries or without keys.
  void write_no_gradients(const AttentionGradients<S>& d, std::size_t example, std::size_t head) const {
    const auto clear_row = [this](S* row) { clear(row, row + shape_.size); };
    if (d.query != nullptr)
      for (std::size_t i = 0; i < shape_.queries.count(example); ++i)
        clear_row(d.query + query_place(example, head, i));
    if (d.key == nullptr) return;
    for (std::size_t j = 0; j < shape_.keys.count(example); ++j) {
      clear_row(d.key + key_place(example, head, j));
      clear_row(d.value + key_place(example, head, j));
    }
  }

  template <class T>
  struct Scale {
    T factor;
    template <class U>
    ALGOPERF_HD U operator()(U x) const {
      return x * U(factor);
    }
  };
  // scale p (x - delta)
  template <class T>
  struct SlopeOf {
    T scale, delta;
    template <class U>
    ALGOPERF_HD U operator()(U x, U p) const {
      return U(scale) * p * (x - U(delta));
    }
  };

  // factor max(x, 0)
  template <class T>
  struct ScaledPositivePart {
    T factor;
    template <class U>
    ALGOPERF_HD U operator()(U x) const {
      return U(factor) * math::max(x, U(0));
    }
  };
  // factor (x - delta) where the score is above 0, else 0
  template <class T>
  struct ReluSlopeOf {
    T factor, delta;
    template <class U>
    ALGOPERF_HD U operator()(U x, U score) const {
      return math::select<U>(score <= U(0), U(0), U(factor) * (x - U(delta)));
    }
  };
  bool is_relu() const { return shape_.weights == AttentionWeights::relu; }
  static S sum_of(std::size_t n, const S* x) {
    return SerialTeam{}.template sum<S>(n, [x](std::size_t j) { return x[j]; });
  }

  const HostType& host_;
  AttentionShape shape_;
  S scale_;
};

}  // namespace algoperf::detail
