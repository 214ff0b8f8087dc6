// CudaTeam: the threads of a warp or a block that work on one row, and reductions over them. Every sum has a fixed
// order that does not depend on the device, so results are identical from run to run.
#pragma once

#include <cstddef>

#include "../../core/config.hpp"
#include "../../core/half.hpp"
#include "../concept.hpp"

namespace algoperf {

namespace detail {

inline constexpr unsigned cuda_warp = 32, cuda_block = 256;

// Returns the number of threads of a block that sums n values.
inline unsigned cuda_adders(std::size_t n) {
  constexpr std::size_t most = 1024;
  return static_cast<unsigned>(n < most ? (n + cuda_warp) / cuda_warp * cuda_warp : most);
}

struct CudaPlus {
  template <class T>
  ALGOPERF_HD T operator()(T a, T b) const {
    return a + b;
  }
};
struct CudaLarger {
  template <class T>
  ALGOPERF_HD T operator()(T a, T b) const {
    return b > a ? b : a;
  }
};

#if defined(__CUDACC__)

// Returns the combination of x over all threads of a warp, to every thread.
template <class T, class Combine>
__device__ __forceinline__ T cuda_over_warp(T x, const Combine& combine) {
  for (unsigned half = cuda_warp / 2; half > 0; half /= 2) x = combine(x, __shfl_xor_sync(~0u, x, half));
  return x;
}

// Returns the combination of x over all threads of a block, at most 1024, to every thread.
template <class T, class Combine>
__device__ __forceinline__ T cuda_over_block(T x, const Combine& combine) {
  __shared__ T of_warps[cuda_warp];
  x = cuda_over_warp(x, combine);
  __syncthreads();  // all threads have read of_warps of the previous call
  if (threadIdx.x % cuda_warp == 0) of_warps[threadIdx.x / cuda_warp] = x;
  __syncthreads();
  T total = of_warps[0];
  for (unsigned w = 1; w < (blockDim.x + cuda_warp - 1) / cuda_warp; ++w) total = combine(total, of_warps[w]);
  return total;
}

#endif

}  // namespace detail

// A team (backend/concept.hpp) that is a warp, or a block of cuda_block threads. Every thread runs the row's functor.
template <bool whole_block>
struct CudaTeam {
  static constexpr unsigned size = whole_block ? detail::cuda_block : detail::cuda_warp;

  ALGOPERF_NO_EXEC_CHECK
  template <class F>
  ALGOPERF_HD void each(std::size_t n, const F& f) const {
    for (std::size_t i = rank(); i < n; i += size) f(i);
    wait();
  }
  ALGOPERF_NO_EXEC_CHECK
  template <class S, class F>
  ALGOPERF_HD S sum(std::size_t n, const F& f) const {
    S total = 0;
    for (std::size_t i = rank(); i < n; i += size) total += f(i);
    return over_team(total, detail::CudaPlus{});
  }
  // Returns the maximum of f(i) over i in [0, n), n > 0.
  ALGOPERF_NO_EXEC_CHECK
  template <class S, class F>
  ALGOPERF_HD S max(std::size_t n, const F& f) const {
    S most = f(0);
    for (std::size_t i = rank(); i < n; i += size) most = detail::CudaLarger{}(most, S(f(i)));
    return over_team(most, detail::CudaLarger{});
  }
  template <class S, class Kernel, class... In>
  ALGOPERF_HD void map(const Kernel kernel, std::size_t n, S* x, const In*... in) const {
    for (std::size_t i = rank(); i < n; i += size) x[i] = S(kernel(Arithmetic<S>(x[i]), Arithmetic<In>(in[i])...));
    wait();
  }
  template <class S>
  ALGOPERF_HD void copy(std::size_t n, const S* from, S* to) const {
    for (std::size_t i = rank(); i < n; i += size) to[i] = from[i];
    wait();
  }
  ALGOPERF_NO_EXEC_CHECK
  template <class S, class F>
  ALGOPERF_HD void copy_rows(unsigned count, unsigned length, S* to, const F& f) const {
    for (unsigned i = rank(); i < count * length; i += size) {
      const unsigned k = i / length, j = i - k * length;
      const Stretch<S> row = f(k);
      to[i] = j >= row.begin && j < row.end ? row.from[j - row.begin] : S(0);
    }
    wait();
  }

 private:
  ALGOPERF_HD static unsigned rank() {
#if ALGOPERF_ON_DEVICE
    return threadIdx.x % size;
#else
    return 0;
#endif
  }
  // Waits until all threads of the team have written the values that the next call may read.
  ALGOPERF_HD static void wait() {
#if ALGOPERF_ON_DEVICE
    if constexpr (whole_block)
      __syncthreads();
    else
      __syncwarp();
#endif
  }
  template <class T, class Combine>
  ALGOPERF_HD static T over_team(T x, const Combine& combine) {
#if ALGOPERF_ON_DEVICE
    wait();
    if constexpr (whole_block)
      return detail::cuda_over_block(x, combine);
    else
      return detail::cuda_over_warp(x, combine);
#else
    return x;
#endif
  }
};

}  // namespace algoperf
