// What the kernels of attention.cuh share: how the threads of a block are assigned to the rows of a head, and rows in
// registers and in shared memory.
#pragma once

#include <cstddef>

#include "../../core/example_rows.hpp"
#include "../attention.hpp"
#include "each.cuh"

namespace algoperf::detail {

inline constexpr unsigned cuda_attention_lanes = 4, cuda_attention_rows = 32;
inline constexpr unsigned cuda_attention_block = cuda_attention_lanes * cuda_attention_rows;

// The number of rows that a block stages in shared memory at a time, for heads of at most `width` elements.
template <unsigned width>
inline constexpr unsigned cuda_attention_tile = width <= 16   ? 64
                                                : width <= 64 ? 32
                                                              : 16;

// Returns the sum over the lanes that share a row.
template <class T>
__device__ __forceinline__ T cuda_over_lanes(T x) {
  for (unsigned half = cuda_attention_lanes / 2; half > 0; half /= 2) x += __shfl_xor_sync(~0u, x, half);
  return x;
}

// A lane's elements of a row of at most `width` elements: of each 16, four adjacent ones. Elements past the end of the
// row are zeros.
template <unsigned width, class T>
struct CudaHeadPart {
  static constexpr unsigned packs = width / (4 * cuda_attention_lanes);
  using Pack = CudaValues<T, 4>;
  Pack x[packs] = {};

  template <class S>
  __device__ __forceinline__ void load(const S* row, std::size_t size, unsigned lane) {
#pragma unroll
    for (unsigned t = 0; t < packs; ++t)
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned c = place(t, lane) + k;
        x[t].values[k] = c < size ? T(row[c]) : T(0);
      }
  }
  template <class S>
  __device__ __forceinline__ void store(T factor, S* row, std::size_t size, unsigned lane) const {
#pragma unroll
    for (unsigned t = 0; t < packs; ++t)
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned c = place(t, lane) + k;
        if (c < size) row[c] = S(factor * x[t].values[k]);
      }
  }
  // Returns this lane's part of the dot product with a row in shared memory.
  __device__ __forceinline__ T dot(const T* row, unsigned lane) const {
    T total = 0;
#pragma unroll
    for (unsigned t = 0; t < packs; ++t) {
      const Pack other = *reinterpret_cast<const Pack*>(row + place(t, lane));
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) total += x[t].values[k] * other.values[k];
    }
    return total;
  }
  __device__ __forceinline__ void add(T factor, const T* row, unsigned lane) {
#pragma unroll
    for (unsigned t = 0; t < packs; ++t) {
      const Pack other = *reinterpret_cast<const Pack*>(row + place(t, lane));
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) x[t].values[k] += factor * other.values[k];
    }
  }
  __device__ __forceinline__ void multiply(T factor) {
#pragma unroll
    for (unsigned t = 0; t < packs; ++t)
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) x[t].values[k] *= factor;
  }

 private:
  __device__ __forceinline__ static unsigned place(unsigned t, unsigned lane) {
    return 4 * (cuda_attention_lanes * t + lane);
  }
};

// The example, the head and the rows of this block, and the row and the lane of this thread.
struct CudaHead {
  std::size_t example, head, first, row;
  unsigned lane;

  __device__ __forceinline__ CudaHead(const AttentionShape& shape, std::size_t most_rows)
      : lane(threadIdx.x % cuda_attention_lanes) {
    const std::size_t blocks = (most_rows + cuda_attention_rows - 1) / cuda_attention_rows;
    example = blockIdx.x / blocks / shape.heads;
    head = blockIdx.x / blocks % shape.heads;
    first = blockIdx.x % blocks * cuda_attention_rows;
    row = first + threadIdx.x / cuda_attention_lanes;
  }
  // Returns the first of this head's elements in row i of the example, in an array whose rows are `stride` apart.
  template <class P>
  __device__ __forceinline__ P* in_row(P* x, const ExampleRows& rows, std::size_t i, std::size_t stride,
                                       std::size_t size) const {
    return x + (rows.begin(example) + i) * stride + head * size;
  }
};

// Copies `count` rows of `size` elements, `stride` apart, to rows of `width` elements in shared memory. The rest of the
// tile is filled with zeros.
template <unsigned width, class S, class T>
__device__ __forceinline__ void cuda_stage_rows(const S* from, std::size_t count, std::size_t size, std::size_t stride,
                                                T* tile) {
  for (unsigned i = threadIdx.x; i < cuda_attention_tile<width> * width; i += cuda_attention_block) {
    const unsigned r = i / width, c = i % width;
    tile[i] = r < count && c < size ? T(from[r * stride + c]) : T(0);
  }
}

}  // namespace algoperf::detail
