// Cuda: the fast device backend, for .cu files compiled by nvcc -std=c++20 and linked with cublas and cusolver (or
// algoperf::cuda). It works on the device that is current (cudaSetDevice) where it is used, on one stream (or on
// `streams`, where matrices do not depend on each other), and waits for it only where a number must come to the host.
// No atomics: two runs give the same bits. One thread of the host at a time uses a device: loops in two threads are for
// two devices.
#pragma once

#if !defined(__CUDACC__)
#error "algoperf: backend/cuda.cuh needs nvcc: compile this file as CUDA, or use Host or Thrust"
#endif

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../core/half.hpp"
#include "../core/map_kernels.hpp"
#include "concept.hpp"
#include "cuda/array.cuh"
#include "cuda/device.cuh"
#include "cuda/linear_algebra.cuh"
#include "cuda/loops.cuh"
#include "cuda/passes.cuh"
#include "cuda/range.cuh"

namespace algoperf {

// Cuda{} computes in float, Cuda<double>{} in double; Cuda<>{.precision = Precision::tf32} multiplies matrices of
// floats on tensor cores. Cuda<float, bfloat16>{} trains in mixed precision: activations, their gradients and the
// weights that products read are stored in 16 bits, and multiplied on tensor cores; parameters, their gradients, sums,
// losses and all other arithmetic are in float, so that any rule trains the parameters, and no loss scale is needed.
// Micikevicius et al. 2018 (arXiv:1710.03740), section 3.1, with bfloat16 as in Kalamkar et al. 2019
// (arXiv:1905.12322).
template <class S = float, class Activation = S>
struct Cuda {
  static_assert(std::is_same_v<Activation, S> || (std::is_same_v<S, float> && std::is_same_v<Activation, bfloat16>),
                "algoperf: Cuda stores activations as it computes, or in bfloat16 where that is float");
  using Scalar = S;
  using Stored = Activation;
  template <class T>
  using Array = CudaArray<T>;
  using Recording = detail::CudaTape;

  static constexpr bool on_host = false;

  Precision precision = Precision::fp32;
  bool graphs = true;                          // whether training steps become CUDA graphs
  std::size_t scratch = std::size_t{1} << 26;  // scalars that layers may work in: few launches fill the device
  std::size_t streams = 4;                     // on which independent matrices are worked on side by side
  mutable detail::CudaTables<S> tables = {};   // of the regions that run() has walked; not to be set

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
  // `from` may be changed when it returns.
  template <class T>
  void write(std::size_t n, const T* from, T* to) const {
    move(n, from, to, cudaMemcpyHostToDevice);
  }
  // The same, but the host goes on at once.
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
  void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const T* a, const T* b, Out* c, bool add = false) const {
    detail::cuda_gemm(device(), precision, true, false, m, n, k, a, b, c, add);
  }

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
  void column_sums(std::size_t rows, std::size_t cols, const T* x, S* out) const {
    detail::cuda_column_sums(device(), Multiply<S>{}, rows, cols, x, out);
  }
  template <class Kernel>
  void row_and_column_sums(const Kernel kernel, std::size_t rows, std::size_t cols, const S* x, S* of_rows,
                           S* of_columns) const {
    for_each_row(rows, cols, detail::CudaRowSum<Kernel, S>{kernel, cols, x, of_rows});
    detail::cuda_column_sums(device(), kernel, rows, cols, x, of_columns);
  }
  template <class F>
  void for_each_row(std::size_t rows, std::size_t cost, const F& f) const {
    detail::cuda_rows(device(), rows, cost, f);
  }
  std::size_t concurrency() const { return streams > 1 ? streams : 1; }
  // Call i on stream i % slots, the streams side by side on the device.
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

  // The same, to the device's memory.
  void dot(std::size_t n, const S* x, const S* y, double* out) const {
    detail::cuda_sum_to(device(), n, detail::CudaProduct<S>{x, y}, out);
  }

  template <class Work>
  void run(Work& work) const {
    detail::CudaPasses<Work>(work, device(), tables).run();
  }

  // f(), a step, and from the third time on as one CUDA graph, if it asks for the same each time and reads nothing.
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
