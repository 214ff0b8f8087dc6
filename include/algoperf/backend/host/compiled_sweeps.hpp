// The choice between a sweep that is compiled with the program and one that algoperf::gemm contains.
#pragma once

#include <cstddef>

#include "sweep.hpp"
#include "sweep_call.hpp"

#if ALGOPERF_USES_COMPILED && defined(__cpp_rtti) && !ALGOPERF_IN_CUDA_FILE
#define ALGOPERF_FINDS_SWEEPS 1
#else
#define ALGOPERF_FINDS_SWEEPS 0
#endif

namespace algoperf::detail {

// Identifies a sweep in programs and in algoperf::gemm, by its type_info. Stage is void if the sweep measures nothing.
template <Then then, class S, class Kernel, class Stage>
struct SweepKey {};

inline namespace ALGOPERF_SIMD {

template <class S, class Ports>
SweepCall<S> call_of(const void* kernel, const void* stage, const Sweep<S, Ports>& at, std::size_t begin,
                     std::size_t end, double* sums) {
  return {kernel, stage, at.u, at.p, at.slots, at.stride, begin, end, sums};
}

// Same as sweep().
template <Then then, class S, class Ports, class Kernel>
void best_sweep(const Kernel& kernel, const Sweep<S, Ports>& at, std::size_t begin, std::size_t end) {
#if ALGOPERF_FINDS_SWEEPS
  if constexpr (Ports::none) {
    static const CompiledSweep<S> compiled =
        find_compiled_sweep<S>(typeid(SweepKey<then, S, Kernel, void>), ALGOPERF_COMPILED_FOR);
    if (compiled != nullptr) return compiled(call_of(&kernel, nullptr, at, begin, end, nullptr));
  }
#endif
  sweep<then>(kernel, at, begin, end);
}

// Same as sweep_chunk().
template <Then then, std::size_t N, class S, class Ports, class Kernel, class Stage>
void best_sweep_chunk(const Kernel& kernel, const Stage& stage, const Sweep<S, Ports>& at, std::size_t begin,
                      std::size_t end, double* sums) {
#if ALGOPERF_FINDS_SWEEPS
  if constexpr (Ports::none) {
    static const CompiledSweep<S> compiled =
        find_compiled_sweep<S>(typeid(SweepKey<then, S, Kernel, Stage>), ALGOPERF_COMPILED_FOR);
    if (compiled != nullptr) return compiled(call_of(&kernel, &stage, at, begin, end, sums));
  }
#endif
  sweep_chunk<then, N>(kernel, stage, at, begin, end, sums);
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
