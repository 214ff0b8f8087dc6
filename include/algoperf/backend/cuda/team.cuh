// CudaTeam: the threads of a block, a warp or a part of a warp that work on one row, and reductions over them. Every
// sum has a fixed order that does not depend on the device, so results are identical from run to run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/config.hpp"
#include "../../core/half.hpp"
#include "../../core/random.hpp"
#include "../concept.hpp"
#include "../work.hpp"

namespace algoperf {

namespace detail {

inline constexpr unsigned cuda_warp = 32, cuda_block = 256;

// Returns the number of threads of a block that sums n values.
inline unsigned cuda_adders(std::size_t n) {
  constexpr std::size_t most = 1024;
  return static_cast<unsigned>(n < most ? (n + cuda_warp) / cuda_warp * cuda_warp : most);
}

// 16 bytes that are copied in one memory access, whatever their type.
struct alignas(16) [[gnu::may_alias]] CudaBytes {
  unsigned long long words[2];
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

// A team (backend/concept.hpp) of adjacent threads: a block of cuda_block threads, a warp, or a part of a warp, which
// must not call sum() or max(). Every thread runs the row's functor.
template <unsigned threads>
struct CudaTeam {
  static constexpr unsigned size = threads;

  ALGOPERF_NO_EXEC_CHECK
  template <class F>
  ALGOPERF_HD void each(std::size_t n, const F& f) const {
    for (std::size_t i = rank(); i < n; i += size) f(i);
    wait();
  }
  ALGOPERF_NO_EXEC_CHECK
  template <class F>
  ALGOPERF_HD void each_random(RandomKey key, std::uint64_t stream, std::size_t n, const F& f) const {
    each((n + 3) / 4, [&](std::size_t k) {
      const PhiloxBlock block = philox(key.value, k, stream);
      f(4 * k, n - 4 * k < 4 ? n - 4 * k : 4, block.words);
    });
  }
  ALGOPERF_NO_EXEC_CHECK
  template <class S, class F>
  ALGOPERF_HD S sum(std::size_t n, const F& f) const {
    S total = 0;
    for (std::size_t i = rank(); i < n; i += size) total += f(i);
    return over_team(total, detail::Plus{});
  }
  // Returns the maximum of f(i) over i in [0, n), n > 0.
  ALGOPERF_NO_EXEC_CHECK
  template <class S, class F>
  ALGOPERF_HD S max(std::size_t n, const F& f) const {
    S most = f(0);
    for (std::size_t i = rank(); i < n; i += size) most = detail::Larger{}(most, S(f(i)));
    return over_team(most, detail::Larger{});
  }
  template <class S, class Kernel, class... In>
  ALGOPERF_HD void map(const Kernel kernel, std::size_t n, S* x, const In*... in) const {
    for (std::size_t i = rank(); i < n; i += size) x[i] = S(kernel(Arithmetic<S>(x[i]), Arithmetic<In>(in[i])...));
    wait();
  }
  template <class X, class Y, class Kernel, class... In>
  ALGOPERF_HD void map_to_two(const Kernel kernel, std::size_t n, X* x, Y* y, const In*... in) const {
    for (std::size_t i = rank(); i < n; i += size) {
      Arithmetic<X> first;
      Arithmetic<Y> second;
      kernel(first, second, Arithmetic<In>(in[i])...);
      x[i] = X(first);
      y[i] = Y(second);
    }
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
    constexpr unsigned width = 16 / sizeof(S);
    using Pack = detail::CudaBytes;
    if (length % width == 0 && aligned(to)) {
      for (unsigned i = width * rank(); i < count * length; i += width * size) {
        const unsigned k = i / length, j = i - k * length;
        const Stretch<S> row = f(k);
        if (row.begin % width == 0 && row.end % width == 0 && aligned(row.from)) {
          Pack pack = {};
          if (j >= row.begin && j < row.end) pack = *reinterpret_cast<const Pack*>(row.from + (j - row.begin));
          *reinterpret_cast<Pack*>(to + i) = pack;
        } else {
          for (unsigned l = 0; l < width; ++l) to[i + l] = row[j + l];
        }
      }
    } else {
      for (unsigned i = rank(); i < count * length; i += size) {
        const unsigned k = i / length;
        to[i] = f(k)[i - k * length];
      }
    }
    wait();
  }

 private:
  ALGOPERF_HD static bool aligned(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }
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
    if constexpr (size > detail::cuda_warp)
      __syncthreads();
    else if constexpr (size == detail::cuda_warp)
      __syncwarp();
    else
      __syncwarp(((1u << size) - 1) << (threadIdx.x % detail::cuda_warp / size * size));
#endif
  }
  template <class T, class Combine>
  ALGOPERF_HD static T over_team(T x, const Combine& combine) {
#if ALGOPERF_ON_DEVICE
    static_assert(size >= detail::cuda_warp,
                  "algoperf: a functor with elementwise = true must not call sum() or max()");
    wait();
    if constexpr (size > detail::cuda_warp)
      return detail::cuda_over_block(x, combine);
    else
      return detail::cuda_over_warp(x, combine);
#else
    return x;
#endif
  }
};

}  // namespace algoperf
