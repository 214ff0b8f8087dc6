// Cuda: the fast device backend, for .cu files compiled by nvcc -std=c++20 and linked with cublas and cusolver (or
// algoperf::cuda). It uses the current device (cudaSetDevice) of the calling thread. Work goes to one stream, or to
// `streams` streams for independent matrices. The host waits only when it needs a value from the device. No kernel
// uses atomics, so two runs give identical bits. Only one host thread at a time may use a device: run loops in two
// threads on two devices.
#pragma once

#if !defined(__CUDACC__)
#error "algoperf: backend/cuda.cuh requires nvcc: compile this file as CUDA, or use Host or Thrust"
#endif

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../core/half.hpp"
#include "../core/map_kernels.hpp"
#include "concept.hpp"
#include "cuda/add_rows.cuh"
#include "cuda/array.cuh"
#include "cuda/attention.cuh"
#include "cuda/device.cuh"
#include "cuda/each.cuh"
#include "cuda/linear_algebra.cuh"
#include "cuda/passes.cuh"
#include "cuda/range.cuh"
#include "cuda/rows.cuh"
#include "cuda/sums.cuh"

namespace algoperf {

// Cuda{} computes in float, Cuda<double>{} in double. Cuda<>{.precision = Precision::tf32} multiplies float matrices
// on tensor cores. Cuda<float, bfloat16>{} trains in mixed precision: activations, their gradients and the weights
// that matrix products read are stored in 16 bits and multiplied on tensor cores. Parameters, their gradients, sums,
// losses and all other arithmetic are in float, so that any rule can train the parameters and no loss scale is
// needed. Micikevicius et al. 2018 (arXiv:1710.03740), section 3.1, with bfloat16 as in Kalamkar et al. 2019
// (arXiv:1905.12322).
template <class S = float, class Activation = S>
struct Cuda {
  static_assert(std::is_same_v<Activation, S> || (std::is_same_v<S, float> && std::is_same_v<Activation, bfloat16>),
                "algoperf: Cuda<S, Activation>: Activation must be S, or bfloat16 if S is float");
  using Scalar = S;
  using Stored = Activation;
  template <class T>
  using Array = CudaArray<T>;
  using Recording = detail::CudaTape;

  static constexpr bool on_host = false;

  Precision precision = Precision::fp32;
  bool graphs = true;                          // whether training steps are captured as CUDA graphs
  std::size_t scratch = std::size_t{1} << 26;  // scalars that layers may use: large launches fill the device
  std::size_t streams = 4;                     // streams on which independent matrices are processed concurrently
  mutable detail::CudaTables<S> tables = {};   // cached tables of the regions of run(); internal, do not set

  template <class T>
  Array<T> array(std::size_t n) const {
    return Array<T>(n);
  }
  template <class T>
  void fill(std::size_t n, T* x, T value) const {
    detail::cuda_each(device(), n, detail::CudaFill<T>{x, value});
  }
  // `from` and `to` must not overlap.
  template <class T>
  void copy(std::size_t n, const T* from, T* to) const {
    if (n > 0) detail::cuda_call(device(), detail::CudaCopy{from, to, n * sizeof(T)});
  }
  template <class T>
  void read(std::size_t n, const T* from, T* to) const {
    move(n, from, to, cudaMemcpyDeviceToHost);
  }
  // `from` may be changed when write() returns.
  template <class T>
  void write(std::size_t n, const T* from, T* to) const {
    move(n, from, to, cudaMemcpyHostToDevice);
  }
  // write() without waiting for the device. More than CudaRing::most bytes are written with write().
  template <class T>
  void send(std::size_t n, const T* from, T* to) const {
    if (n * sizeof(T) > detail::CudaRing::most) return write(n, from, to);
    const void* const sent = device().ring().put(
        from, n * sizeof(T), [] { device().catch_up(); }, [] { device().settle(); });
    detail::cuda_each(device(), n, detail::CudaFetch<T>{static_cast<const T*>(sent), to});
  }
  void synchronize() const { device().synchronize(); }

  template <class T, class Out>
  void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const T* a, const T* b, Out* c, bool add = false) const {
    detail::cuda_gemm(device(), precision, false, false, m, n, k, a, b, c, add);
  }
  template <class T, class Out>
  void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const T* a, const T* b, Out* c, bool add = false) const {
    detail::cuda_gemm(device(), precision, false, true, m, n, k, a, b, c, add);
  }
  template <class T, class Out>
  void gemm_nt_bias(std::size_t m, std::size_t n, std::size_t k, const T* a, const T* b, const S* bias, Out* c) const {
    gemm_nt(m, n, k, a, b, c);
    if (bias != nullptr) map_rows(Add{}, m, n, c, bias);
  }
  template <class T, class Out>
  void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const T* a, const T* b, Out* c, bool add = false) const {
    detail::cuda_gemm(device(), precision, true, false, m, n, k, a, b, c, add);
  }

  detail::CudaAttention attention(const AttentionShape& shape) const { return {device(), shape}; }

  bool eigh(std::size_t n, const S* a, S* values, S* vectors) const {
    return detail::cuda_eigh(device(), n, a, values, vectors);
  }
  void qr(std::size_t n, const S* a, S* q) const { detail::cuda_qr(device(), n, a, q); }

  template <class Kernel, class T, class... In>
  void map(const Kernel kernel, std::size_t n, T* x, const In*... in) const {
    detail::cuda_map(device(), kernel, n, x, in...);
  }
  template <class Kernel, class T>
  void map_rows(const Kernel kernel, std::size_t rows, std::size_t cols, T* x, const S* row) const {
    detail::cuda_each(device(), rows * cols, detail::CudaMapRows<Kernel, T>{kernel, cols, x, row});
  }
  template <class T>
  void column_sums(std::size_t rows, std::size_t cols, const T* x, S* out, bool accumulate = false) const {
    detail::cuda_column_sums<detail::ElementTerms<detail::Itself, T, S>, S>(device(), {{}, x}, rows, cols, {out},
                                                                            accumulate);
  }
  template <class Kernel, class T, std::size_t inputs_size, std::size_t columns_size>
  void column_sums(const Kernel kernel, std::size_t rows, std::size_t cols, S* const (&outs)[Kernel::sums],
                   const T* const (&inputs)[inputs_size], const S* const (&of_columns)[columns_size]) const {
    detail::cuda_column_sums(device(), column_terms(kernel, inputs, of_columns), rows, cols, outs);
  }
  template <class Kernel>
  void row_and_column_sums(const Kernel kernel, std::size_t rows, std::size_t cols, const S* x, S* of_rows,
                           S* of_columns) const {
    for_each_row(rows, cols, detail::CudaRowSum<Kernel, S>{kernel, cols, x, of_rows});
    detail::cuda_column_sums<detail::ElementTerms<Kernel, S, S>, S>(device(), {kernel, x}, rows, cols, {of_columns});
  }
  template <class F>
  void for_each_row(std::size_t rows, std::size_t cost, const F& f) const {
    detail::cuda_rows(device(), rows, cost, f);
  }
  std::size_t concurrency() const { return streams > 1 ? streams : 1; }
  // Call i uses stream i % slots. The streams run concurrently on the device.
  template <class F>
  void run_concurrently(std::size_t slots, std::size_t count, const F& f) const {
    device().fork(slots, count, [&](std::size_t i) { f(*this, i % slots, i); });
  }
  template <class T>
  void add_rows(std::size_t count, std::size_t cols, const std::int32_t* keys, const T* x, S* out) const {
    detail::cuda_add_rows(device(), count, cols, keys, x, out);
  }

  double sum(std::size_t n, const S* x) const { return detail::cuda_sum(device(), n, detail::CudaTerm<S>{x}); }
  double dot(std::size_t n, const S* x, const S* y) const {
    return detail::cuda_sum(device(), n, detail::CudaProduct<S>{x, y});
  }

  // Writes the dot product to `out` in device memory.
  void dot(std::size_t n, const S* x, const S* y, double* out) const {
    detail::cuda_sum_to(device(), n, detail::CudaProduct<S>{x, y}, out);
  }

  template <class Work>
  void run(Work& work) const {
    detail::CudaPasses<Work>(work, device(), tables).run();
  }

  // Runs the step f(). From the third call on the step is one CUDA graph, provided that it makes the same calls each
  // time and reads nothing back.
  template <class F>
  void replay(Recording& recording, const F& f) const {
    const detail::CudaRange range("algoperf: step");
    if (graphs)
      recording.replay(device(), f);
    else
      f();
  }

 private:
  static detail::CudaDevice& device() { return detail::CudaDevice::current(); }
  template <class T>
  static void move(std::size_t n, const T* from, T* to, cudaMemcpyKind kind) {
    if (n == 0) return;
    device().settle();
    detail::cuda_check(cudaMemcpyAsync(to, from, n * sizeof(T), kind, device().stream()), "copying memory");
    device().synchronize();
  }
};

Cuda()->Cuda<float>;

}  // namespace algoperf
