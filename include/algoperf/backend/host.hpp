// Host: the CPU backend. Kernels run on native SIMD vectors. Matrix products use the configured provider
// (products/gemm.hpp), and so do convolutions if the provider implements them. The number of threads never changes a
// result, because work is split by size alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../core/arena.hpp"
#include "../core/math.hpp"
#include "concept.hpp"
#if !ALGOPERF_IN_CUDA_FILE
#include "host/attention.hpp"
#include "host/convolution.hpp"
#endif
#include "host/column_sums.hpp"
#include "host/compiled_kernels.hpp"
#include "host/panels.hpp"
#include "host/passes.hpp"
#include "host/sweep.hpp"
#include "host/thread_pool.hpp"
#include "matrix_sums.hpp"
#include "precision.hpp"
#include "products/gemm.hpp"
#include "products/gemm_bfloat16.hpp"
#include "serial_team.hpp"

namespace algoperf {

// Host<>{.threads = 2} uses two threads. Host<double>{} computes in double. Host{} deduces Host<float>, but accepts
// no field initialisers. `precision` is that of gemm_* and symmetric_* of Host<float>, not of convolutions and
// attention. bf16 needs AVX512_BF16 (products/gemm_bfloat16.hpp). Without it, for products of fewer than 32 rows or
// columns, and for tf32, products are in fp32.
template <class S>
struct Host {
  using Scalar = S;
  template <class T>
  using Array = Arena<T>;

  static constexpr bool on_host = true;

  unsigned threads = 1;
  std::size_t scratch = std::size_t{1} << 18;  // scalars that layers may use as scratch memory: fits in cache
  Precision precision = Precision::fp32;

  template <class T>
  Array<T> array(std::size_t n) const {
    return Arena<T>(n);
  }
  template <class T>
  void fill(std::size_t n, T* x, T value) const {
    for (std::size_t i = 0; i < n; ++i) x[i] = value;
  }
  template <class T>
  void copy(std::size_t n, const T* from, T* to) const {
    if (n > 0) std::memmove(to, from, n * sizeof(T));
  }
  template <class T>
  void read(std::size_t n, const T* from, T* to) const {
    copy(n, from, to);
  }
  template <class T>
  void write(std::size_t n, const T* from, T* to) const {
    copy(n, from, to);
  }
  void synchronize() const {}

  // Several threads compute panels of C. host/panels.hpp explains why the result does not depend on their number.
  void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, S* c, bool add = false) const {
    const Precision in = precision_of_product(m, n);
    detail::for_each_panel<S>(threads, m, n, k, [=](std::size_t i, std::size_t rows, std::size_t j, std::size_t cols) {
      algoperf::gemm_nn(in, rows, cols, k, a + i * k, k, b + j, n, c + i * n + j, n, add);
    });
  }
  void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, S* c, bool add = false) const {
    const Precision in = precision_of_product(m, n);
    detail::for_each_panel<S>(threads, m, n, k, [=](std::size_t i, std::size_t rows, std::size_t j, std::size_t cols) {
      algoperf::gemm_nt(in, rows, cols, k, a + i * k, k, b + j * k, k, c + i * n + j, n, add);
    });
  }
  void gemm_nt_bias(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, const S* bias, S* c) const {
    const Precision in = precision_of_product(m, n);
    detail::for_each_panel<S>(threads, m, n, k, [=](std::size_t i, std::size_t rows, std::size_t j, std::size_t cols) {
      algoperf::gemm_nt_bias(in, rows, cols, k, a + i * k, k, b + j * k, k, bias == nullptr ? nullptr : bias + j,
                             c + i * n + j, n);
    });
  }
  void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, S* c, bool add = false) const {
    const Precision in = precision_of_product(m, n);
    detail::for_each_panel<S>(threads, m, n, k, [=](std::size_t i, std::size_t rows, std::size_t j, std::size_t cols) {
      algoperf::gemm_tn(in, rows, cols, k, a + i, m, b + j, n, c + i * n + j, n, add);
    });
  }
  // Whether the bits of an element of gemm_nn may depend on the number of rows or columns of the product.
  bool products_depend_on_size() const { return gemm_column_step<S>() == 0 || uses_bfloat16<S>(precision); }
  void symmetric_nt(std::size_t n, std::size_t k, const S* a, const S* b, S* c) const {
    const Precision in = precision_of_product(n, n);
    detail::for_each_block_below_diagonal(threads, n, k, c, [=](std::size_t j, std::size_t cols) {
      algoperf::gemm_nt(in, n - j, cols, k, a + j * k, k, b + j * k, k, c + j * n + j, n, false);
    });
  }
  void symmetric_tn(std::size_t n, std::size_t k, const S* a, const S* b, S* c) const {
    const Precision in = precision_of_product(n, n);
    detail::for_each_block_below_diagonal(threads, n, k, c, [=](std::size_t j, std::size_t cols) {
      algoperf::gemm_tn(in, n - j, cols, k, a + j, n, b + j, n, c + j * n + j, n, false);
    });
  }

#if !ALGOPERF_IN_CUDA_FILE
  auto convolution(const Convolution& c) const { return detail::ConvolutionThreads<S, Convolution>(c, threads); }
  auto convolution(const DepthwiseConvolution& c) const {
    return detail::ConvolutionThreads<S, DepthwiseConvolution>(c, threads);
  }
  auto attention(const AttentionShape& shape) const { return detail::HostAttention<Host>(*this, shape); }
#endif

  bool eigh(std::size_t n, const S* a, S* values, S* vectors) const {
    if constexpr (detail::explain_decompositions<S>()) return LinearAlgebra<S>::eigh(n, a, values, vectors);
  }
  void qr(std::size_t n, const S* a, S* q) const {
    if constexpr (detail::explain_decompositions<S>()) LinearAlgebra<S>::qr(n, a, q);
  }

  // x[i] = kernel(x[i], in[i]...)
  template <class Kernel, class... In>
  void map(const Kernel kernel, std::size_t n, S* x, const In*... in) const {
    over_chunks(n, [=](std::size_t begin, std::size_t end) {
      detail::best_map_range(kernel, end - begin, x + begin, (in + begin)...);
    });
  }

  // x[r][c] = kernel(x[r][c], row[c])
  template <class Kernel>
  void map_rows(const Kernel kernel, std::size_t rows, std::size_t cols, S* x, const S* row) const {
    over_blocks(rows, cols, [=](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) detail::best_map_range(kernel, cols, x + r * cols, row);
    });
  }

  // out[c] = sum over r of x[r][c], in the order of host/column_sums.hpp. Several threads divide the columns.
  void column_sums(std::size_t rows, std::size_t cols, const S* x, S* out, bool accumulate = false) const {
    column_sums_of(detail::ElementTerms<detail::Itself, S, S>{{}, x}, rows, cols, {out}, accumulate);
  }
  // outs[m][c] = sum over r of kernel(inputs[0][r][c], ..., of_columns[0][c], ...)[m]
  template <class Kernel, std::size_t inputs_size, std::size_t columns_size>
  void column_sums(const Kernel kernel, std::size_t rows, std::size_t cols, S* const (&outs)[Kernel::sums],
                   const S* const (&inputs)[inputs_size], const S* const (&of_columns)[columns_size]) const {
    column_sums_of(column_terms(kernel, inputs, of_columns), rows, cols, outs);
  }

  // of_rows[r] = sum over c, of_columns[c] = sum over r, of kernel(x[r][c]). One thread reads x once. Several threads
  // divide the rows, then the columns, and read x twice.
  template <class Kernel>
  void row_and_column_sums(const Kernel kernel, std::size_t rows, std::size_t cols, const S* x, S* of_rows,
                           S* of_columns) const {
    constexpr std::size_t block = detail::sums_block, tile = detail::sums_tile;
    const std::size_t blocks = (rows + block - 1) / block, tiles = (cols + tile - 1) / tile;
    fill(rows, of_rows, S(0));
    fill(cols, of_columns, S(0));
    const auto add = [=](std::size_t i, std::size_t j, S* row_sums, S* column_sums) {
      const std::size_t r = i * block, c = j * tile;
      detail::add_tile_sums(kernel, rows - r < block ? rows - r : block, cols - c < tile ? cols - c : tile, cols,
                            x + r * cols + c, row_sums, column_sums);
    };
    if (threads <= 1 || rows * cols <= elements_per_task) {
      for (std::size_t i = 0; i < blocks; ++i)
        for (std::size_t j = 0; j < tiles; ++j) add(i, j, of_rows + i * block, of_columns + j * tile);
      return;
    }
    parallel(blocks, [&](std::size_t i) {
      S unused[tile] = {};
      for (std::size_t j = 0; j < tiles; ++j) add(i, j, of_rows + i * block, unused);
    });
    parallel(tiles, [&](std::size_t j) {
      S unused[block] = {};
      for (std::size_t i = 0; i < blocks; ++i) add(i, j, unused, of_columns + j * tile);
    });
  }

  // f(team, r) for r in [0, rows); `cost` is the approximate number of elements of a row.
  template <class F>
  void for_each_row(std::size_t rows, std::size_t cost, const F& f) const {
    over_blocks(rows, cost, [&f](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) f(SerialTeam{}, r);
    });
  }

  std::size_t concurrency() const { return threads > 1 ? threads : 1; }
  // Each thread makes the same number of calls, with a Host of one thread. The remaining calls then run one after
  // another, each with all threads.
  template <class F>
  void run_concurrently(std::size_t slots, std::size_t count, const F& f) const {
    const std::size_t each = threads > 1 && slots >= threads ? count / threads : 0;
    if (each > 0)
      parallel(threads, [&](std::size_t slot) { calls(f, with_threads(1), slot, slot * each, (slot + 1) * each); });
    calls(f, *this, 0, each * threads, count);
  }

  // out[keys[i]][c] += x[i][c] for i in order. Several threads divide the columns.
  void add_rows(std::size_t count, std::size_t cols, const std::int32_t* keys, const S* x, S* out) const {
    over_columns(count, cols, [=](std::size_t begin, std::size_t end) {
      for (std::size_t i = 0; i < count; ++i) {
        S* const to = out + static_cast<std::size_t>(keys[i]) * cols;
        for (std::size_t c = begin; c < end; ++c) to[c] += x[i * cols + c];
      }
    });
  }

  // Sums in double, in 16 lanes within each chunk and over the chunks in order, as in run() and in Thrust.
  double sum(std::size_t n, const S* x) const {
    return chunked_sum(n, [x](std::size_t i) { return static_cast<double>(x[i]); });
  }
  double dot(std::size_t n, const S* x, const S* y) const {
    return chunked_sum(n, [x, y](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(y[i]); });
  }

  template <class Work>
  void run(Work& work) const {
    detail::HostPasses<Work>{work, threads}.run();
  }

 private:
  // In bfloat16, packing the factors costs more than it saves if the product has few rows or columns.
  Precision precision_of_product(std::size_t rows, std::size_t cols) const {
    return rows < 32 || cols < 32 ? Precision::fp32 : precision;
  }
  // Below this size a second thread costs more than it saves.
  static constexpr std::size_t elements_per_task = 1 << 14;

  template <class F>
  static double chunked_sum(std::size_t n, const F& f) {
    double total = 0;
    for (std::size_t begin = 0; begin < n; begin += detail::chunk)
      total += SerialTeam{}.template sum<double>(n - begin < detail::chunk ? n - begin : detail::chunk,
                                                 [&f, begin](std::size_t i) { return f(begin + i); });
    return total;
  }
  template <class F>
  ALGOPERF_ONE_COPY static void calls(const F& f, const Host& host, std::size_t slot, std::size_t begin,
                                      std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) f(host, slot, i);
  }
  Host with_threads(unsigned count) const {
    Host host = *this;
    host.threads = count;
    return host;
  }
  template <class Task>
  void parallel(std::size_t tasks, const Task& task) const {
    ThreadPool::instance().parallel_for(threads, tasks, task);
  }
  // Calls f(begin, end). One thread and several threads call the same machine code.
  template <class F>
  ALGOPERF_ONE_COPY static void over_range(const F& f, std::size_t begin, std::size_t end) {
    f(begin, end);
  }
  template <class F>
  void over_chunks(std::size_t n, const F& f) const {
    over_pieces(n, elements_per_task, f);
  }
  template <class F>
  void over_blocks(std::size_t rows, std::size_t cost, const F& f) const {
    over_pieces(rows, 1 + elements_per_task / (cost + 1), f);
  }
  // Calls f(begin, end) for [0, n), with several threads in pieces of `piece`.
  template <class F>
  void over_pieces(std::size_t n, std::size_t piece, const F& f) const {
    if (threads <= 1) return over_range(f, 0, n);
    parallel((n + piece - 1) / piece, [&](std::size_t i) {
      const std::size_t begin = i * piece, end = begin + piece;
      over_range(f, begin, end < n ? end : n);
    });
  }
  template <class Terms>
  void column_sums_of(const Terms& terms, std::size_t rows, std::size_t cols, S* const (&outs)[Terms::count],
                      bool accumulate = false) const {
    over_columns(rows, cols, [&](std::size_t begin, std::size_t end) {
      if (!accumulate)
        for (S* const out : outs)
          for (std::size_t c = begin; c < end; ++c) out[c] = 0;
      detail::best_add_column_sums<S>(terms, rows, cols, begin, end, outs);
    });
  }
  // Calls f(begin, end) for the columns of a matrix, with several threads in pieces of whole cache lines.
  template <class F>
  void over_columns(std::size_t rows, std::size_t cols, const F& f) const {
    constexpr std::size_t line = 64 / sizeof(S);
    const std::size_t lines = (cols + line - 1) / line;
    const std::size_t pieces = rows * cols <= elements_per_task ? 1 : math::min<std::size_t>(threads, lines);
    if (pieces <= 1) return over_range(f, 0, cols);
    parallel(pieces, [&](std::size_t i) {
      over_range(f, i * lines / pieces * line, i + 1 == pieces ? cols : (i + 1) * lines / pieces * line);
    });
  }
};

Host()->Host<float>;

}  // namespace algoperf
