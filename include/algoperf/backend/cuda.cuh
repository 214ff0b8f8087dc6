// Cuda: the fast device backend, for .cu files compiled by nvcc -std=c++20 and linked with cublas and cusolver (or
// algoperf::cuda). It works on the device that is current (cudaSetDevice) where it is used, on one stream, and waits
// for it only where a number must come to the host. No atomics: two runs give the same bits.
#pragma once

#if !defined(__CUDACC__)
#error "algoperf: backend/cuda.cuh needs nvcc: compile this file as CUDA, or use Host or Thrust"
#endif

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "../core/map_kernels.hpp"
#include "concept.hpp"
#include "cuda_array.cuh"
#include "cuda_device.cuh"
#include "cuda_linear_algebra.cuh"
#include "cuda_loops.cuh"
#include "cuda_passes.cuh"

namespace algoperf {

// Cuda{} computes in float, Cuda<double>{} in double; Cuda<>{.precision = Precision::tf32} multiplies matrices of
// floats on tensor cores.
template <class S = float>
struct Cuda {
  using Scalar = S;
  template <class T>
  using Array = CudaArray<T>;

  static constexpr bool on_host = false;

  Precision precision = Precision::fp32;
  mutable detail::CudaTables<S> tables = {};  // of the regions that run() has walked; not to be set

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
    move(n, from, to, cudaMemcpyDeviceToDevice);
  }
  template <class T>
  void read(std::size_t n, const T* from, T* to) const {
    move(n, from, to, cudaMemcpyDeviceToHost);
    synchronize();
  }
  // `from` may be changed when it returns.
  template <class T>
  void write(std::size_t n, const T* from, T* to) const {
    move(n, from, to, cudaMemcpyHostToDevice);
    synchronize();
  }
  void synchronize() const { device().synchronize(); }

  void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, S* c, bool add = false) const {
    detail::cuda_gemm(device(), precision, false, false, m, n, k, a, b, c, add);
  }
  void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, S* c, bool add = false) const {
    detail::cuda_gemm(device(), precision, false, true, m, n, k, a, b, c, add);
  }
  void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, S* c, bool add = false) const {
    detail::cuda_gemm(device(), precision, true, false, m, n, k, a, b, c, add);
  }

  bool eigh(std::size_t n, const S* a, S* values, S* vectors) const {
    return detail::cuda_eigh(device(), n, a, values, vectors);
  }
  void qr(std::size_t n, const S* a, S* q) const { detail::cuda_qr(device(), n, a, q); }

  template <class Kernel, class... In>
  void map(const Kernel kernel, std::size_t n, S* x, const In*... in) const {
    detail::cuda_map(device(), kernel, n, x, in...);
  }
  template <class Kernel>
  void map_rows(const Kernel kernel, std::size_t rows, std::size_t cols, S* x, const S* row) const {
    detail::cuda_each(device(), rows * cols, detail::CudaMapRows<Kernel, S>{kernel, cols, x, row});
  }
  void column_sums(std::size_t rows, std::size_t cols, const S* x, S* out) const {
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
  // One call after the other, each on the whole device.
  std::size_t slots() const { return 1; }
  template <class F>
  void batch(std::size_t, std::size_t count, const F& f) const {
    for (std::size_t i = 0; i < count; ++i) f(*this, std::size_t{0}, i);
  }
  void add_rows(std::size_t count, std::size_t cols, const std::int32_t* keys, const S* x, S* out) const {
    detail::cuda_add_rows(device(), count, cols, keys, x, out);
  }

  double sum(std::size_t n, const S* x) const { return detail::cuda_sum(device(), n, detail::CudaTerm<S>{x}); }
  double dot(std::size_t n, const S* x, const S* y) const {
    return detail::cuda_sum(device(), n, detail::CudaProduct<S>{x, y});
  }

  template <class Work>
  void run(Work& work) const {
    detail::CudaPasses<Work>(work, device(), tables).run();
  }

 private:
  static detail::CudaDevice& device() { return detail::CudaDevice::current(); }
  template <class T>
  static void move(std::size_t n, const T* from, T* to, cudaMemcpyKind kind) {
    if (n > 0) detail::cuda_check(cudaMemcpyAsync(to, from, n * sizeof(T), kind, device().stream()), "copying memory");
  }
};

Cuda()->Cuda<float>;

}  // namespace algoperf
