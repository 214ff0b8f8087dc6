// Attention of the CUDA backend. Scores are computed in tiles, so the full matrix of scores is never stored: Dao et
// al. 2022, arXiv:2205.14135, algorithms 1 and 4. A block handles 32 rows of one head of one example; four lanes share
// a row, and each of them holds a quarter of the head's elements. A row's sums have a fixed order, and no kernel uses
// atomics: the gradients of queries, and those of keys and values, come from two kernels that compute the scores anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../core/error.hpp"
#include "../../core/half.hpp"
#include "../../core/math.hpp"
#include "../attention.hpp"
#include "attention_rows.cuh"
#include "device.cuh"

namespace algoperf::detail {

template <unsigned width, class S>
__global__ void __launch_bounds__(cuda_attention_block)
    cuda_run_attention(const AttentionShape shape, const AttentionInputs<S> in, S* out, Arithmetic<S>* log_sums) {
  using T = Arithmetic<S>;
  constexpr unsigned tile = cuda_attention_tile<width>, abreast = 4;
  alignas(32) __shared__ T keys[tile * width];
  alignas(32) __shared__ T values[tile * width];
  const CudaHead at(shape, shape.most_queries);
  const std::size_t queries = shape.queries.count(at.example), all_keys = shape.keys.count(at.example);
  if (at.first >= queries) return;
  const std::size_t last = math::min(queries, at.first + cuda_attention_rows);
  const std::size_t n = shape.causal ? last : all_keys;
  const bool active = at.row < queries;
  const std::size_t visible = !active ? 0 : shape.visible(at.example, at.row);
  const T scale = static_cast<T>(shape.scale);
  constexpr T none = static_cast<T>(-__builtin_huge_val());
  CudaHeadPart<width, T> query, sums;
  if (active)
    query.load(at.in_row(in.query, shape.queries, at.row, shape.query_stride, shape.size), shape.size, at.lane);
  T top = none, total = 0;
  for (std::size_t begin = 0; begin < n; begin += tile) {
    const std::size_t count = math::min(n - begin, std::size_t{tile});
    __syncthreads();
    cuda_stage_rows<width>(at.in_row(in.key, shape.keys, begin, shape.key_stride, shape.size), count, shape.size,
                           shape.key_stride, keys);
    cuda_stage_rows<width>(at.in_row(in.value, shape.keys, begin, shape.key_stride, shape.size), count, shape.size,
                           shape.key_stride, values);
    __syncthreads();
    for (unsigned j = 0; j < count; j += abreast) {
      T scores[abreast];
      T new_top = top;
#pragma unroll
      for (unsigned k = 0; k < abreast; ++k) {
        const T score = scale * cuda_over_lanes(query.dot(keys + (j + k) * width, at.lane));
        scores[k] = begin + j + k < visible ? score : none;
        new_top = scores[k] > new_top ? scores[k] : new_top;
      }
      const T kept = top == new_top ? T(1) : math::exp(top - new_top);
      top = new_top;
      total *= kept;
      sums.multiply(kept);
#pragma unroll
      for (unsigned k = 0; k < abreast; ++k) {
        const T p = begin + j + k < visible ? math::exp(scores[k] - top) : T(0);
        total += p;
        sums.add(p, values + (j + k) * width, at.lane);
      }
    }
  }
  if (!active) return;
  sums.store(visible == 0 ? T(0) : T(1) / total, at.in_row(out, shape.queries, at.row, shape.width(), shape.size),
             shape.size, at.lane);
  if (at.lane == 0)
    log_sums[(shape.queries.begin(at.example) + at.row) * shape.heads + at.head] =
        visible == 0 ? T(0) : top + math::log(total);
}

// The gradients of queries: for a query and a key, p = exp(score - log_sum) and ds = scale p (d_out . v - d_out . out);
// then dq = sum over keys of ds k.
template <unsigned width, class S>
__global__ void __launch_bounds__(cuda_attention_block)
    cuda_run_query_gradients(const AttentionShape shape, const AttentionInputs<S> in, const S* out,
                             const Arithmetic<S>* log_sums, const S* d_out, S* d_query) {
  using T = Arithmetic<S>;
  constexpr unsigned tile = cuda_attention_tile<width>;
  alignas(32) __shared__ T keys[tile * width];
  alignas(32) __shared__ T values[tile * width];
  const CudaHead at(shape, shape.most_queries);
  const std::size_t queries = shape.queries.count(at.example);
  if (at.first >= queries) return;
  const std::size_t last = math::min(queries, at.first + cuda_attention_rows);
  const std::size_t n = shape.causal ? last : shape.keys.count(at.example);
  const bool active = at.row < queries;
  const std::size_t visible = !active ? 0 : shape.visible(at.example, at.row);
  const T scale = static_cast<T>(shape.scale);
  CudaHeadPart<width, T> query, dy, sums;
  T shared_slope = 0, log_sum = 0;
  if (active) {
    query.load(at.in_row(in.query, shape.queries, at.row, shape.query_stride, shape.size), shape.size, at.lane);
    dy.load(at.in_row(d_out, shape.queries, at.row, shape.width(), shape.size), shape.size, at.lane);
    CudaHeadPart<width, T> y;
    y.load(at.in_row(out, shape.queries, at.row, shape.width(), shape.size), shape.size, at.lane);
#pragma unroll
    for (unsigned t = 0; t < y.packs; ++t)
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) shared_slope += dy.x[t].values[k] * y.x[t].values[k];
    log_sum = log_sums[(shape.queries.begin(at.example) + at.row) * shape.heads + at.head];
  }
  shared_slope = cuda_over_lanes(shared_slope);
  for (std::size_t begin = 0; begin < n; begin += tile) {
    const std::size_t count = math::min(n - begin, std::size_t{tile});
    __syncthreads();
    cuda_stage_rows<width>(at.in_row(in.key, shape.keys, begin, shape.key_stride, shape.size), count, shape.size,
                           shape.key_stride, keys);
    cuda_stage_rows<width>(at.in_row(in.value, shape.keys, begin, shape.key_stride, shape.size), count, shape.size,
                           shape.key_stride, values);
    __syncthreads();
#pragma unroll 2
    for (unsigned j = 0; j < count; ++j) {
      const T score = scale * cuda_over_lanes(query.dot(keys + j * width, at.lane));
      const T slope = cuda_over_lanes(dy.dot(values + j * width, at.lane));
      const T p = begin + j < visible ? math::exp(score - log_sum) : T(0);
      sums.add(scale * p * (slope - shared_slope), keys + j * width, at.lane);
    }
  }
  if (active)
    sums.store(T(1), at.in_row(d_query, shape.queries, at.row, shape.query_stride, shape.size), shape.size, at.lane);
}

// The gradients of keys and values: dk = sum over queries of ds q, and dv = sum over queries of p d_out.
template <unsigned width, class S>
__global__ void __launch_bounds__(cuda_attention_block)
    cuda_run_key_gradients(const AttentionShape shape, const AttentionInputs<S> in, const S* out,
                           const Arithmetic<S>* log_sums, const S* d_out, S* d_key, S* d_value) {
  using T = Arithmetic<S>;
  constexpr unsigned tile = cuda_attention_tile<width>;
  alignas(32) __shared__ T queries[tile * width];
  alignas(32) __shared__ T slopes[tile * width];  // of the outputs
  __shared__ T shared_slopes[tile];
  __shared__ T tile_log_sums[tile];
  const CudaHead at(shape, shape.most_keys);
  const std::size_t keys = shape.keys.count(at.example), n = shape.queries.count(at.example);
  if (at.first >= keys) return;
  const bool active = at.row < keys;
  const T scale = static_cast<T>(shape.scale);
  CudaHeadPart<width, T> key, value, of_key, of_value;
  if (active) {
    key.load(at.in_row(in.key, shape.keys, at.row, shape.key_stride, shape.size), shape.size, at.lane);
    value.load(at.in_row(in.value, shape.keys, at.row, shape.key_stride, shape.size), shape.size, at.lane);
  }
  for (std::size_t begin = shape.causal ? at.first : 0; begin < n; begin += tile) {
    const std::size_t count = math::min(n - begin, std::size_t{tile});
    const S* const dy = at.in_row(d_out, shape.queries, begin, shape.width(), shape.size);
    const S* const y = at.in_row(out, shape.queries, begin, shape.width(), shape.size);
    __syncthreads();
    cuda_stage_rows<width>(at.in_row(in.query, shape.queries, begin, shape.query_stride, shape.size), count, shape.size,
                           shape.query_stride, queries);
    cuda_stage_rows<width>(dy, count, shape.size, shape.width(), slopes);
    for (unsigned r = threadIdx.x / cuda_attention_lanes; r < tile; r += cuda_attention_rows) {
      T slope = 0;
      if (r < count)
        for (std::size_t c = at.lane; c < shape.size; c += cuda_attention_lanes)
          slope += T(dy[r * shape.width() + c]) * T(y[r * shape.width() + c]);
      slope = cuda_over_lanes(slope);
      if (at.lane > 0) continue;
      shared_slopes[r] = slope;
      tile_log_sums[r] =
          r < count ? log_sums[(shape.queries.begin(at.example) + begin + r) * shape.heads + at.head] : T(0);
    }
    __syncthreads();
#pragma unroll 2
    for (unsigned i = 0; i < count; ++i) {
      const T score = scale * cuda_over_lanes(key.dot(queries + i * width, at.lane));
      const T slope = cuda_over_lanes(value.dot(slopes + i * width, at.lane));
      const T p = !shape.causal || begin + i >= at.row ? math::exp(score - tile_log_sums[i]) : T(0);
      of_value.add(p, slopes + i * width, at.lane);
      of_key.add(scale * p * (slope - shared_slopes[i]), queries + i * width, at.lane);
    }
  }
  if (!active) return;
  of_key.store(T(1), at.in_row(d_key, shape.keys, at.row, shape.key_stride, shape.size), shape.size, at.lane);
  of_value.store(T(1), at.in_row(d_value, shape.keys, at.row, shape.key_stride, shape.size), shape.size, at.lane);
}

// See AttendingBackend.
class CudaAttention {
 public:
  static constexpr std::size_t most_head_size = 128;

  CudaAttention(const CudaDevice& device, const AttentionShape& shape) : device_(device), shape_(shape) {}

  template <class S>
  void forward(const AttentionInputs<S>& in, S* out, Arithmetic<S>* log_sums) const {
    with_width(
        [&](auto width) { run(shape_.most_queries, cuda_run_attention<width.value, S>, shape_, in, out, log_sums); });
  }
  template <class S>
  void backward(const AttentionInputs<S>& in, const S* out, const Arithmetic<S>* log_sums, const S* d_out,
                const AttentionGradients<S>& d) const {
    with_width([&](auto width) {
      if (d.query != nullptr)
        run(shape_.most_queries, cuda_run_query_gradients<width.value, S>, shape_, in, out, log_sums, d_out, d.query);
      if (d.key != nullptr)
        run(shape_.most_keys, cuda_run_key_gradients<width.value, S>, shape_, in, out, log_sums, d_out, d.key, d.value);
    });
  }

 private:
  // Calls f with the least supported width that holds a head.
  template <class F>
  void with_width(const F& f) const {
    if (shape_.size <= 16)
      f(std::integral_constant<unsigned, 16>{});
    else if (shape_.size <= 32)
      f(std::integral_constant<unsigned, 32>{});
    else if (shape_.size <= 64)
      f(std::integral_constant<unsigned, 64>{});
    else
      f(std::integral_constant<unsigned, 128>{});
  }
  template <class... Parameters>
  void run(std::size_t most_rows, void (*kernel)(Parameters...),
           const std::type_identity_t<Parameters>&... arguments) const {
    const std::size_t blocks = (most_rows + cuda_attention_rows - 1) / cuda_attention_rows;
    if (blocks == 0 || shape_.examples == 0) return;
    const std::size_t grid = blocks * shape_.heads * shape_.examples;
    require(grid <= INT32_MAX, "cuda: attention over ", shape_.examples, " examples of up to ", most_rows,
            " rows needs ", grid, " blocks, expected at most ", INT32_MAX);
    cuda_launch(device_, dim3(static_cast<unsigned>(grid)), cuda_attention_block, kernel, arguments...);
  }

  const CudaDevice& device_;
  AttentionShape shape_;
};

}  // namespace algoperf::detail
