// Thrust: the portable device backend, written with Thrust's algorithms only. The device system is selected by
// Thrust's macro, defined before any include (or by linking algoperf::thrust):
//   -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP   g++ or clang++ and CCCL's headers; no CUDA needed
//   -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_OMP   the same with -fopenmp
//   nvcc, in a .cu file                               CUDA
// Results are deterministic: work is split by index and sums by size alone. Two runs give identical bits, and so do
// the systems CPP and OMP. Matrix products compute one dot product per element: they serve correctness checks, not
// speed.
#pragma once

#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "../core/config.hpp"
#include "../core/element_count.hpp"
#include "../core/error.hpp"
#include "../core/map_kernels.hpp"
#include "column_terms.hpp"
#include "concept.hpp"
#include "thrust/loops.hpp"
#include "thrust/passes.hpp"

namespace algoperf {

// Zero-initialised device memory. Throws OutOfMemory if it cannot be allocated.
template <class T>
class ThrustArray {
 public:
  ThrustArray() = default;
  explicit ThrustArray(std::size_t n) try : values_(n < max_elements ? n : 0, T{}) {
    if (n >= max_elements) fail_to_allocate(n, sizeof(T));
  } catch (const std::bad_alloc&) {
    fail_to_allocate(n, sizeof(T));
  }
  ThrustArray(const ThrustArray&) = default;
  ThrustArray& operator=(const ThrustArray&) = default;
  // The moves of device_vector are not noexcept: a std::vector that grows would copy its arrays.
  ThrustArray(ThrustArray&&) noexcept = default;
  ThrustArray& operator=(ThrustArray&&) noexcept = default;
  T* data() { return thrust::raw_pointer_cast(values_.data()); }
  const T* data() const { return thrust::raw_pointer_cast(values_.data()); }
  std::size_t size() const { return values_.size(); }

 private:
  thrust::device_vector<T> values_;
};

// Thrust{} computes in float, Thrust<double>{} in double. Every call returns when its work is done. run, sum and dot
// share scratch memory, so an object supports one of these calls at a time. The state of each rule has its own copy
// of the backend.
template <class S = float>
struct Thrust {
  using Scalar = S;
  template <class T>
  using Array = ThrustArray<T>;

  static constexpr bool on_host = false;

  std::size_t scratch = std::size_t{1} << 22;  // scalars that layers may use as scratch memory

  template <class T>
  Array<T> array(std::size_t n) const {
    return Array<T>(n);
  }
  template <class T>
  void fill(std::size_t n, T* x, T value) const {
    thrust::fill_n(thrust::device, x, n, value);
  }
  // `from` and `to` must not overlap.
  template <class T>
  void copy(std::size_t n, const T* from, T* to) const {
    thrust::copy_n(thrust::device, from, n, to);
  }
  template <class T>
  void read(std::size_t n, const T* from, T* to) const {
    thrust::copy_n(thrust::device_pointer_cast(from), n, to);
  }
  template <class T>
  void write(std::size_t n, const T* from, T* to) const {
    thrust::copy_n(from, n, thrust::device_pointer_cast(to));
  }
  void synchronize() const {}

  void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, S* c, bool add = false) const {
    detail::thrust_each(m * n, detail::ThrustGemm<S>{n, k, k, 1, 1, n, a, b, c, add});
  }
  void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, S* c, bool add = false) const {
    detail::thrust_each(m * n, detail::ThrustGemm<S>{n, k, k, 1, k, 1, a, b, c, add});
  }
  void gemm_nt_bias(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, const S* bias, S* c) const {
    gemm_nt(m, n, k, a, b, c);
    if (bias != nullptr) map_rows(Add{}, m, n, c, bias);
  }
  void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, const S* b, S* c, bool add = false) const {
    detail::thrust_each(m * n, detail::ThrustGemm<S>{n, k, 1, m, 1, n, a, b, c, add});
  }

  // eigh and qr copy the matrix to the host and compute there.
  bool eigh(std::size_t n, const S* a, S* values, S* vectors) const {
    if constexpr (detail::explain_decompositions<S>()) {
      std::vector<S> host = on_host_memory(n * n, a), host_values(n), host_vectors(n * n);
      if (!LinearAlgebra<S>::eigh(n, host.data(), host_values.data(), host_vectors.data())) return false;
      write(n, host_values.data(), values);
      write(n * n, host_vectors.data(), vectors);
      return true;
    }
  }
  void qr(std::size_t n, const S* a, S* q) const {
    if constexpr (detail::explain_decompositions<S>()) {
      std::vector<S> host = on_host_memory(n * n, a), host_q(n * n);
      LinearAlgebra<S>::qr(n, host.data(), host_q.data());
      write(n * n, host_q.data(), q);
    }
  }

  template <class Kernel, class... In>
  void map(const Kernel kernel, std::size_t n, S* x, const In*... in) const {
    detail::thrust_each(n, detail::ThrustMap<Kernel, S, In...>{kernel, x, tuple_of(in...)});
  }
  template <class Kernel>
  void map_rows(const Kernel kernel, std::size_t rows, std::size_t cols, S* x, const S* row) const {
    detail::thrust_each(rows * cols, detail::ThrustMapRows<Kernel, S>{kernel, cols, x, row});
  }
  void column_sums(std::size_t rows, std::size_t cols, const S* x, S* out, bool accumulate = false) const {
    column_sums_of(detail::ElementTerms<detail::Itself, S, S>{{}, x}, rows, cols, {out}, accumulate);
  }
  template <class Kernel, std::size_t inputs_size, std::size_t columns_size>
  void column_sums(const Kernel kernel, std::size_t rows, std::size_t cols, S* const (&outs)[Kernel::sums],
                   const S* const (&inputs)[inputs_size], const S* const (&of_columns)[columns_size]) const {
    column_sums_of(column_terms(kernel, inputs, of_columns), rows, cols, outs);
  }
  // One thread per row, then one per column.
  template <class Kernel>
  void row_and_column_sums(const Kernel kernel, std::size_t rows, std::size_t cols, const S* x, S* of_rows,
                           S* of_columns) const {
    detail::thrust_each(rows, detail::ThrustRowSum<Kernel, S>{kernel, cols, x, of_rows});
    column_sums_of(detail::ElementTerms<Kernel, S, S>{kernel, x}, rows, cols, {of_columns});
  }
  // One thread per row.
  template <class F>
  void for_each_row(std::size_t rows, std::size_t, const F& f) const {
    detail::thrust_each(rows, detail::ThrustRow<F>{f});
  }
  // Calls run one after another, each on the whole device.
  std::size_t concurrency() const { return 1; }
  template <class F>
  void run_concurrently(std::size_t, std::size_t count, const F& f) const {
    for (std::size_t i = 0; i < count; ++i) f(*this, std::size_t{0}, i);
  }
  // One thread per column. Each takes O(count) time for any number of keys, and no two threads write the same
  // element.
  void add_rows(std::size_t count, std::size_t cols, const std::int32_t* keys, const S* x, S* out) const {
    detail::thrust_each(cols, detail::ThrustAddRows<S>{count, cols, keys, x, out});
  }

  double sum(std::size_t n, const S* x) const { return scratch_.sum(n, detail::ThrustTerm<S>{x}); }
  double dot(std::size_t n, const S* x, const S* y) const { return scratch_.sum(n, detail::ThrustProduct<S>{x, y}); }

  template <class Work>
  void run(Work& work) const {
    detail::ThrustPasses<Work>(work, scratch_).run();
  }

 private:
  // One thread per column.
  template <class Terms>
  static void column_sums_of(const Terms& terms, std::size_t rows, std::size_t cols, S* const (&outs)[Terms::count],
                             bool accumulate = false) {
    detail::ThrustColumnSums<Terms, S> sums{terms, rows, cols, accumulate, {}};
    for (std::size_t m = 0; m < Terms::count; ++m) sums.outs[m] = outs[m];
    detail::thrust_each(cols, sums);
  }
  std::vector<S> on_host_memory(std::size_t n, const S* from) const {
    std::vector<S> host(n);
    read(n, from, host.data());
    return host;
  }

  mutable detail::ThrustScratch scratch_;
};

Thrust()->Thrust<float>;

}  // namespace algoperf
