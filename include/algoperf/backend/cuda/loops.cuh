// The loops of the CUDA backend that are no update rule's: over elements, rows, columns and sums.
#pragma once

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../core/config.hpp"
#include "../../core/half.hpp"
#include "../../core/tuple.hpp"
#include "../matrix_sums.hpp"
#include "../work.hpp"
#include "device.cuh"
#include "team.cuh"

namespace algoperf::detail {

// W values, in one access.
template <class T, std::size_t W>
struct alignas(W * sizeof(T)) CudaValues {
  T values[W];
};

// As many scalars as an access takes at most.
template <class S>
inline constexpr std::size_t cuda_width = 16 / sizeof(S);
template <class S>
using CudaPack = CudaValues<S, cuda_width<S>>;

// Whether all take accesses of W values.
template <std::size_t W, class... T>
bool cuda_aligned(const T*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % (W * sizeof(T)) == 0) && ...);
}

template <class F>
__global__ void __launch_bounds__(cuda_block) cuda_run_each(std::size_t n, const F f) {
  const std::size_t step = std::size_t{gridDim.x} * cuda_block;
  for (std::size_t i = std::size_t{blockIdx.x} * cuda_block + threadIdx.x; i < n; i += step) f(i);
}

// f(i) for i in [0, n), in any order.
template <class F>
void cuda_each(const CudaDevice& device, std::size_t n, const F& f) {
  static_assert(std::is_trivially_copyable_v<F>, "algoperf: what goes to a device must be trivially copyable");
  if (n == 0) return;
  cuda_launch(device, device.blocks((n + cuda_block - 1) / cuda_block), cuda_block, cuda_run_each<F>, n, f);
}

template <class S>
struct CudaFill {
  S* x;
  S value;
  ALGOPERF_HD void operator()(std::size_t i) const { x[i] = value; }
};

// What the host has put into its ring.
template <class T>
struct CudaFetch {
  const T* from;
  T* to;
  ALGOPERF_HD void operator()(std::size_t i) const { to[i] = from[i]; }
};

struct CudaCopy {
  const void* from;
  void* to;
  std::size_t bytes;
  bool operator==(const CudaCopy&) const = default;
  void operator()(cudaStream_t stream) const {
    cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "copying memory");
  }
};

// x[i] = kernel(x[i], in[i]...), or the same for a pack i of them.
template <bool packed, class Kernel, class S, class... In>
struct CudaMap {
  Kernel kernel;
  S* x;
  Tuple<const In*...> in;

  ALGOPERF_HD void operator()(std::size_t i) const {
    if constexpr (packed)
      pack(i, std::index_sequence_for<In...>{});
    else
      scalar(i, std::index_sequence_for<In...>{});
  }

 private:
  template <std::size_t... J>
  ALGOPERF_HD void scalar(std::size_t i, std::index_sequence<J...>) const {
    x[i] = S(kernel(Arithmetic<S>(x[i]), Arithmetic<In>(get<J>(in)[i])...));
  }
  template <std::size_t... J>
  ALGOPERF_HD void pack(std::size_t i, std::index_sequence<J...>) const {
    CudaPack<S> out = reinterpret_cast<const CudaPack<S>*>(x)[i];
    [[maybe_unused]] const Tuple<Packed<In>...> loaded{{{reinterpret_cast<const CudaPack<S>*>(get<J>(in))[i]}...}};
    using T = Arithmetic<S>;
    for (std::size_t k = 0; k < cuda_width<S>; ++k)
      out.values[k] = S(kernel(T(out.values[k]), T(get<J>(loaded).values[k])...));
    reinterpret_cast<CudaPack<S>*>(x)[i] = out;
  }
  template <class>
  using Packed = CudaPack<S>;
};

template <class S, class Kernel, class... In>
void cuda_map(const CudaDevice& device, const Kernel& kernel, std::size_t n, S* x, const In*... in) {
  std::size_t done = 0;
  if constexpr ((std::is_same_v<S, In> && ...))
    if (cuda_aligned<cuda_width<S>>(x, in...)) {
      const std::size_t packs = n / cuda_width<S>;
      cuda_each(device, packs, CudaMap<true, Kernel, S, In...>{kernel, x, tuple_of(in...)});
      done = packs * cuda_width<S>;
    }
  cuda_each(device, n - done, CudaMap<false, Kernel, S, In...>{kernel, x + done, tuple_of(in + done...)});
}

template <class Kernel, class S>
struct CudaMapRows {
  Kernel kernel;
  std::size_t cols;
  S* x;
  const Arithmetic<S>* row;
  ALGOPERF_HD void operator()(std::size_t i) const { x[i] = S(kernel(Arithmetic<S>(x[i]), row[i % cols])); }
};

template <bool whole_block, class F>
__global__ void __launch_bounds__(cuda_block) cuda_run_rows(std::size_t rows, const F f) {
  constexpr unsigned teams = cuda_block / CudaTeam<whole_block>::size;
  const std::size_t first = std::size_t{blockIdx.x} * teams + threadIdx.x / CudaTeam<whole_block>::size;
  for (std::size_t r = first; r < rows; r += std::size_t{gridDim.x} * teams) f(CudaTeam<whole_block>{}, r);
}

// f(team, r) for r in [0, rows): a warp a row, or a block where rows are long.
template <class F>
void cuda_rows(const CudaDevice& device, std::size_t rows, std::size_t cost, const F& f) {
  static_assert(std::is_trivially_copyable_v<F>, "algoperf: what goes to a device must be trivially copyable");
  if (rows == 0) return;
  constexpr std::size_t long_row = 16 * cuda_warp;
  if (cost > long_row) {
    cuda_launch(device, device.blocks(rows), cuda_block, cuda_run_rows<true, F>, rows, f);
  } else {
    constexpr std::size_t teams = cuda_block / cuda_warp;
    cuda_launch(device, device.blocks((rows + teams - 1) / teams), cuda_block, cuda_run_rows<false, F>, rows, f);
  }
}

// Sums over columns of kernel(x): a block takes 32 columns of a block of rows, each of its warps every eighth row.
template <class Kernel, class X, class S>
__global__ void __launch_bounds__(cuda_block) cuda_run_columns(const Kernel kernel, std::size_t rows, std::size_t cols,
                                                               std::size_t rows_each, const X* x, S* parts) {
  constexpr unsigned warps = cuda_block / cuda_warp;
  __shared__ S of_warps[warps][cuda_warp];
  const unsigned lane = threadIdx.x % cuda_warp, warp = threadIdx.x / cuda_warp;
  const std::size_t c = std::size_t{blockIdx.x} * cuda_warp + lane;
  const std::size_t begin = std::size_t{blockIdx.y} * rows_each, end = math::min(rows, begin + rows_each);
  S total = 0;
  if (c < cols)
    for (std::size_t r = begin + warp; r < end; r += warps) total += kernel(S(x[r * cols + c]));
  of_warps[warp][lane] = total;
  __syncthreads();
  if (warp > 0 || c >= cols) return;
  for (unsigned w = 1; w < warps; ++w) total += of_warps[w][lane];
  parts[std::size_t{blockIdx.y} * cols + c] = total;
}

// out[c] = the parts of column c, one after the other.
template <class S>
struct CudaAddParts {
  std::size_t count, cols;
  const S* parts;
  S* out;
  ALGOPERF_HD void operator()(std::size_t c) const {
    S total = 0;
    for (std::size_t i = 0; i < count; ++i) total += parts[i * cols + c];
    out[c] = total;
  }
};

template <class Kernel, class X, class S>
void cuda_column_sums(CudaDevice& device, const Kernel& kernel, std::size_t rows, std::size_t cols, const X* x,
                      S* out) {
  if (cols == 0) return;
  constexpr std::size_t most_parts = 128, least_rows = 32;
  const std::size_t across = (cols + cuda_warp - 1) / cuda_warp;
  const std::size_t each = math::max(least_rows, (rows + most_parts - 1) / most_parts);
  const std::size_t parts = math::max(std::size_t{1}, (rows + each - 1) / each);
  S* const part = device.scratch<S>(parts * cols);
  const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(parts));
  cuda_launch(device, grid, cuda_block, cuda_run_columns<Kernel, X, S>, kernel, rows, cols, each, x, part);
  cuda_each(device, cols, CudaAddParts<S>{parts, cols, part, out});
}

template <class Kernel, class S>
struct CudaRowSum {
  Kernel kernel;
  std::size_t cols;
  const S* x;
  S* out;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const S* const row = x + r * cols;
    const Kernel k = kernel;
    const S total = team.template sum<S>(cols, [row, k](std::size_t c) { return k(row[c]); });
    out[r] = total;
  }
};

// The terms of chunk b, added in double.
template <class Term>
__global__ void __launch_bounds__(cuda_block) cuda_run_sum(const Term term, std::size_t n, double* parts) {
  const std::size_t begin = std::size_t{blockIdx.x} * chunk, end = math::min(n, begin + chunk);
  double total = 0;
  for (std::size_t i = begin + threadIdx.x; i < end; i += cuda_block) total += term(i);
  total = cuda_over_block(total, CudaPlus{});
  if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

// *sum = the sum of `n` parts, which it may lie among.
template <class T>
__global__ void cuda_run_sum_parts(std::size_t n, const T* parts, T* sum) {
  T total = 0;
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) total += parts[i];
  total = cuda_over_block(total, CudaPlus{});
  if (threadIdx.x == 0) *sum = total;
}

// *sum = the sum of term(i) for i in [0, n).
template <class Term>
void cuda_sum_to(CudaDevice& device, std::size_t n, const Term& term, double* sum) {
  if (n == 0) return cuda_each(device, 1, CudaFill<double>{sum, 0});
  const std::size_t chunks = chunks_of(n);
  double* const parts = device.scratch<double>(chunks);
  cuda_launch(device, static_cast<unsigned>(chunks), cuda_block, cuda_run_sum<Term>, term, n, parts);
  cuda_launch(device, 1, cuda_adders(chunks), cuda_run_sum_parts<double>, chunks, parts, sum);
}

// The same on the host.
template <class Term>
double cuda_sum(CudaDevice& device, std::size_t n, const Term& term) {
  if (n == 0) return 0;
  double* const place = device.scratch<double>(chunks_of(n));
  cuda_sum_to(device, n, term, place);
  double sum = 0;
  device.settle();
  cuda_check(cudaMemcpyAsync(&sum, place, sizeof sum, cudaMemcpyDeviceToHost, device.stream()), "reading a sum");
  device.synchronize();
  return sum;
}

template <class S>
struct CudaTerm {
  const S* x;
  ALGOPERF_HD double operator()(std::size_t i) const { return static_cast<double>(x[i]); }
};
template <class S>
struct CudaProduct {
  const S* x;
  const S* y;
  ALGOPERF_HD double operator()(std::size_t i) const { return static_cast<double>(x[i]) * static_cast<double>(y[i]); }
};

// The rows of one key, a run of the sorted keys, added to its row in their first order.
template <class X, class S>
struct CudaAddRun {
  std::size_t count, cols;
  const std::int32_t* keys;
  const std::int32_t* places;
  const X* x;
  S* out;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t i) const {
    const std::int32_t key = keys[i];
    if (i > 0 && keys[i - 1] == key) return;  // not the first of its run
    std::size_t end = i + 1;
    while (end < count && keys[end] == key) ++end;
    const std::size_t width = cols;
    const std::int32_t* const at = places;
    const X* const from = x;
    S* const to = out + static_cast<std::size_t>(key) * cols;
    team.each(cols, [=](std::size_t c) {
      S total = to[c];
      for (std::size_t j = i; j < end; ++j) total += from[static_cast<std::size_t>(at[j]) * width + c];
      to[c] = total;
    });
  }
};

struct CudaPlace {
  std::int32_t* places;
  ALGOPERF_HD void operator()(std::size_t i) const { places[i] = static_cast<std::int32_t>(i); }
};

// Sorts `count` keys, each with its place, by the library's own counts of memory.
struct CudaSort {
  void* memory;
  std::size_t bytes;
  const std::int32_t* keys;
  std::int32_t* sorted;
  const std::int32_t* places;
  std::int32_t* sorted_places;
  int count;
  bool operator==(const CudaSort&) const = default;
  // Without memory: writes to `needed` how many bytes it takes.
  void run(std::size_t& needed, cudaStream_t stream) const {
    cuda_check(
        cub::DeviceRadixSort::SortPairs(memory, needed, keys, sorted, places, sorted_places, count, 0, 32, stream),
        "sorting keys");
  }
  void operator()(cudaStream_t stream) const {
    std::size_t size = bytes;
    run(size, stream);
  }
};

// out[keys[i]] += x[i], row by row: the keys are sorted, stably, and each run of equal ones is added in order.
template <class X, class S>
void cuda_add_rows(CudaDevice& device, std::size_t count, std::size_t cols, const std::int32_t* keys, const X* x,
                   S* out) {
  if (count == 0) return;
  CudaSort sort{nullptr, 0, keys, nullptr, nullptr, nullptr, static_cast<int>(count)};
  sort.run(sort.bytes, device.stream());
  const std::size_t aligned = (count + 63) / 64 * 64;
  std::int32_t* const memory = device.scratch<std::int32_t>(3 * aligned + sort.bytes / sizeof(std::int32_t) + 1);
  std::int32_t* const first = memory + aligned;
  sort.sorted = memory;
  sort.places = first;
  sort.sorted_places = memory + 2 * aligned;
  sort.memory = memory + 3 * aligned;
  cuda_each(device, count, CudaPlace{first});
  cuda_call(device, sort);
  cuda_rows(device, count, cols, CudaAddRun<X, S>{count, cols, sort.sorted, sort.sorted_places, x, out});
}

}  // namespace algoperf::detail
