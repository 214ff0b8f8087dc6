// The inner loop of a pass on a device: runs a kernel on the elements of one memory access, with u from the arena,
// from a port or in factored form.
#pragma once

#include <cstddef>

#include "../../core/math.hpp"
#include "../../core/slots.hpp"
#include "../work.hpp"
#include "each.cuh"

namespace algoperf::detail {

// Returns u of element i, counted from the beginning of the region, multiplied by the tensor's factors if `factored`.
template <bool factored, class S>
__device__ __forceinline__ S cuda_read(S u, const TensorWork<S>& tensor, std::size_t i) {
  if constexpr (factored)
    if (tensor.factors.rows != nullptr) {
      const std::size_t at = i - tensor.offset;
      const S factor = tensor.factors.rows[at / tensor.facts.cols] * tensor.factors.columns[at % tensor.facts.cols];
      return u * math::min(tensor.factors.most, factor);
    }
  return u;
}

template <std::size_t W, class T>
__device__ __forceinline__ CudaValues<T, W> cuda_load(const T* from) {
  return *reinterpret_cast<const CudaValues<T, W>*>(from);
}
template <std::size_t W, class T>
__device__ __forceinline__ void cuda_store(const CudaValues<T, W>& values, T* to) {
  *reinterpret_cast<CudaValues<T, W>*>(to) = values;
}

// Loads u of W elements, starting at i, from the arena or the port.
template <std::size_t W, class S, class Ports>
__device__ __forceinline__ CudaValues<S, W> cuda_load_update(const Sweep<S, Ports>& at, std::size_t i) {
  if constexpr (Ports::none) {
    return cuda_load<W>(at.u + i);
  } else {
    const auto halves = cuda_load<W>(at.ports.gradients + i);
    CudaValues<S, W> u;
#pragma unroll
    for (std::size_t k = 0; k < W; ++k) u.values[k] = at.ports.widened(halves.values[k]);
    return u;
  }
}

// Stores p of W elements, starting at i, in the arena and, if there is one, in the port.
template <std::size_t W, class S, class Ports>
__device__ __forceinline__ void cuda_store_values(const CudaValues<S, W>& p, const Sweep<S, Ports>& at, std::size_t i) {
  cuda_store(p, at.p + i);
  if constexpr (!Ports::none) {
    CudaValues<typename Ports::Half, W> halves;
#pragma unroll
    for (std::size_t k = 0; k < W; ++k) halves.values[k] = at.ports.narrowed(p.values[k], i + k);
    cuda_store(halves, at.ports.values + i);
  }
}

// Runs the kernel on W elements, starting at i. Applies the update, or calls see(u, p) with each update and its
// parameter.
template <std::size_t W, Then then, bool factored, class S, class Ports, class Kernel, class See>
__device__ __forceinline__ void cuda_sweep_pack(const Kernel& kernel, const Sweep<S, Ports>& at,
                                                const TensorWork<S>& tensor, std::size_t i, const See& see) {
  constexpr std::size_t n = Kernel::slots;
  CudaValues<S, W> u = cuda_load_update<W>(at, i), p = cuda_load<W>(at.p + i), s[n + 1];
#pragma unroll
  for (std::size_t j = 0; j != n; ++j) s[j] = cuda_load<W>(at.slots + j * at.stride + i);
#pragma unroll
  for (std::size_t k = 0; k < W; ++k) {
    Slots<S, n> mine;
    if constexpr (n > 0)
      for (std::size_t j = 0; j < n; ++j) mine[j] = s[j].values[k];
    const S before = cuda_read<factored>(u.values[k], tensor, i + k);
    if constexpr (then == Then::apply) {
      p.values[k] = kernel.applied(before, p.values[k], mine);
    } else {
      u.values[k] = kernel(before, p.values[k], mine);
      see(u.values[k], p.values[k]);
    }
    if constexpr (n > 0)
      for (std::size_t j = 0; j < n; ++j) s[j].values[k] = mine[j];
  }
#pragma unroll
  for (std::size_t j = 0; j != n; ++j) cuda_store(s[j], at.slots + j * at.stride + i);
  if constexpr (then == Then::apply) cuda_store_values(p, at, i);
  if constexpr (then == Then::store) cuda_store(u, at.u + i);
}

}  // namespace algoperf::detail
