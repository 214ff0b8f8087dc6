// Loops of the CUDA backend over elements: each, map, map_rows, fill and copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "../../core/config.hpp"
#include "../../core/half.hpp"
#include "../../core/tuple.hpp"
#include "device.cuh"
#include "team.cuh"

namespace algoperf::detail {

// W values that are loaded or stored in one memory access.
template <class T, std::size_t W>
struct alignas(W * sizeof(T)) CudaValues {
  T values[W];
};

// The number of scalars in the widest memory access, 16 bytes.
template <class S>
inline constexpr std::size_t cuda_width = 16 / sizeof(S);
template <class S>
using CudaPack = CudaValues<S, cuda_width<S>>;

// Whether all pointers are aligned for accesses of W values.
template <std::size_t W, class... T>
bool cuda_aligned(const T*... pointers) {
  return ((reinterpret_cast<std::uintptr_t>(pointers) % (W * sizeof(T)) == 0) && ...);
}

template <class F>
__global__ void __launch_bounds__(cuda_block) cuda_run_each(std::size_t n, const F f) {
  const std::size_t step = std::size_t{gridDim.x} * cuda_block;
  for (std::size_t i = std::size_t{blockIdx.x} * cuda_block + threadIdx.x; i < n; i += step) f(i);
}

// Calls f(i) for i in [0, n), in any order.
template <class F>
void cuda_each(const CudaDevice& device, std::size_t n, const F& f) {
  static_assert(std::is_trivially_copyable_v<F>, "algoperf: a functor must be trivially copyable to run on a device");
  if (n == 0) return;
  cuda_launch(device, device.blocks((n + cuda_block - 1) / cuda_block), cuda_block, cuda_run_each<F>, n, f);
}

template <class S>
struct CudaFill {
  S* x;
  S value;
  ALGOPERF_HD void operator()(std::size_t i) const { x[i] = value; }
};

// Copies data from the CudaRing (ring.cuh) to device memory.
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

// x[i] = kernel(x[i], in[i]...), for one element or for pack i of elements.
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

}  // namespace algoperf::detail
