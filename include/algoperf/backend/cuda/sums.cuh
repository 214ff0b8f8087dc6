// Sums of the CUDA backend over columns, over rows and over all elements. No kernel uses atomics, so two runs give
// identical bits.
#pragma once

#include <cstddef>

#include "../../core/config.hpp"
#include "../../core/half.hpp"
#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"
#include "../column_terms.hpp"
#include "../work.hpp"
#include "device.cuh"
#include "each.cuh"
#include "team.cuh"

namespace algoperf::detail {

// Where each of `count` sums of a column goes.
template <std::size_t count, class S>
struct CudaColumns {
  S* outs[count];
};

// Column sums of terms (backend/column_terms.hpp). A block sums `width` columns, a power of two up to 32, over a range
// of rows, and writes row blockIdx.y of each output, or adds to it. Thread t takes column t % width of rows t / width,
// t / width + cuda_block / width, and so on.
template <class Terms, class S>
__global__ void __launch_bounds__(cuda_block)
    cuda_run_columns(const Terms terms, std::size_t rows, std::size_t cols, std::size_t rows_each, unsigned width,
                     const CudaColumns<Terms::count, S> to, bool accumulate) {
  constexpr std::size_t count = Terms::count;
  __shared__ S of_threads[count][cuda_block];
  const unsigned abreast = cuda_block / width;
  const std::size_t c = std::size_t{blockIdx.x} * width + threadIdx.x % width;
  const std::size_t begin = std::size_t{blockIdx.y} * rows_each, end = math::min(rows, begin + rows_each);
  S totals[count] = {};
  if (c < cols) {
    constexpr unsigned at_once = 8;  // loads in flight
    std::size_t r = begin + threadIdx.x / width;
    for (; r + (at_once - 1) * abreast < end; r += at_once * abreast) {
      Sums<S, count> loaded[at_once];
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k) loaded[k] = terms.template at<S>((r + k * abreast) * cols + c, c);
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        for (std::size_t m = 0; m < count; ++m) totals[m] += loaded[k][m];
    }
    for (; r < end; r += abreast) {
      const auto term = terms.template at<S>(r * cols + c, c);
      for (std::size_t m = 0; m < count; ++m) totals[m] += term[m];
    }
  }
  for (std::size_t m = 0; m < count; ++m) of_threads[m][threadIdx.x] = totals[m];
  for (unsigned half = cuda_block / 2; half >= width; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      for (std::size_t m = 0; m < count; ++m) of_threads[m][threadIdx.x] += of_threads[m][threadIdx.x + half];
  }
  if (threadIdx.x < width && c < cols)
    for (std::size_t m = 0; m < count; ++m) {
      S* const out = to.outs[m] + std::size_t{blockIdx.y} * cols + c;
      *out = accumulate ? *out + of_threads[m][threadIdx.x] : of_threads[m][threadIdx.x];
    }
}

template <class Terms, class S>
void cuda_column_sums(CudaDevice& device, const Terms& terms, std::size_t rows, std::size_t cols,
                      S* const (&outs)[Terms::count], bool accumulate = false) {
  if (cols == 0) return;
  constexpr std::size_t most_parts = 128, least_rows = 128, count = Terms::count;
  unsigned width = 1;
  while (width < cuda_warp && width < cols) width *= 2;
  const auto across = static_cast<unsigned>((cols + width - 1) / width);
  const std::size_t each = math::max(least_rows, (rows + most_parts - 1) / most_parts);
  const std::size_t parts = rows <= each ? 1 : (rows + each - 1) / each;
  S* const part = parts > 1 ? device.scratch<S>(count * parts * cols) : nullptr;
  CudaColumns<count, S> to;
  for (std::size_t m = 0; m < count; ++m) to.outs[m] = parts > 1 ? part + m * parts * cols : outs[m];
  cuda_launch(device, dim3(across, static_cast<unsigned>(parts)), cuda_block, cuda_run_columns<Terms, S>, terms, rows,
              cols, each, width, to, accumulate && parts == 1);
  using Parts = ElementTerms<Itself, S, S>;
  if (parts > 1)
    for (std::size_t m = 0; m < count; ++m)
      cuda_launch(device, across, cuda_block, cuda_run_columns<Parts, S>, Parts{{}, to.outs[m]}, parts, cols, parts,
                  width, CudaColumns<1, S>{{outs[m]}}, accumulate);
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

// Sums the terms of chunk blockIdx.x in double.
template <class Term>
__global__ void __launch_bounds__(cuda_block) cuda_run_sum(const Term term, std::size_t n, double* parts) {
  const std::size_t begin = std::size_t{blockIdx.x} * chunk, end = math::min(n, begin + chunk);
  double total = 0;
  for (std::size_t i = begin + threadIdx.x; i < end; i += cuda_block) total += term(i);
  total = cuda_over_block(total, Plus{});
  if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

// *sum = the sum of `n` parts. `sum` may point into `parts`.
template <class T>
__global__ void cuda_run_sum_parts(std::size_t n, const T* parts, T* sum) {
  T total = 0;
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) total += parts[i];
  total = cuda_over_block(total, Plus{});
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

// Returns the sum of term(i) for i in [0, n) to the host.
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

}  // namespace algoperf::detail
