// The choice between a sweep, map or sum that is compiled with the program and one that algoperf::gemm contains.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../serial_team.hpp"
#include "column_sums.hpp"
#include "kernel_call.hpp"
#include "sweep.hpp"

#if ALGOPERF_USES_COMPILED && defined(__cpp_rtti) && !ALGOPERF_IN_CUDA_FILE
#define ALGOPERF_FINDS_KERNELS 1
#else
#define ALGOPERF_FINDS_KERNELS 0
#endif

namespace algoperf::detail {

// The type_info of a key identifies a sweep, a map or a sum, in programs and in algoperf::gemm. Stage is void if the
// sweep measures nothing.
template <Then then, class S, class Kernel, class Stage>
struct SweepKey {};
template <class S, class Kernel, std::size_t inputs>
struct MapKey {};
template <class S>
struct ColumnSumsKey {};

inline namespace ALGOPERF_SIMD {

// Calls the kernel of algoperf::gemm. Returns false if there is none.
template <class Key, class Call>
bool calls_compiled([[maybe_unused]] const Call& call) {
#if ALGOPERF_FINDS_KERNELS
  static const CompiledKernel<Call> compiled = find_compiled_kernel<Call>(typeid(Key), ALGOPERF_COMPILED_FOR);
  if (compiled != nullptr) compiled(call);
  return compiled != nullptr;
#else
  return false;
#endif
}

// Same as sweep().
template <Then then, class S, class Ports, class Kernel>
void best_sweep(const Kernel& kernel, const Sweep<S, Ports>& at, std::size_t begin, std::size_t end) {
  if constexpr (Ports::none)
    if (calls_compiled<SweepKey<then, S, Kernel, void>>(
            SweepCall<S>{&kernel, nullptr, at.u, at.p, at.slots, at.stride, begin, end, nullptr}))
      return;
  sweep<then>(kernel, at, begin, end);
}

// Same as sweep_chunk().
template <Then then, std::size_t N, class S, class Ports, class Kernel, class Stage>
void best_sweep_chunk(const Kernel& kernel, const Stage& stage, const Sweep<S, Ports>& at, std::size_t begin,
                      std::size_t end, double* sums) {
  if constexpr (Ports::none)
    if (calls_compiled<SweepKey<then, S, Kernel, Stage>>(
            SweepCall<S>{&kernel, &stage, at.u, at.p, at.slots, at.stride, begin, end, sums}))
      return;
  sweep_chunk<then, N>(kernel, stage, at, begin, end, sums);
}

// Same as map_range().
template <class Kernel, class S, class... In>
void best_map_range(const Kernel& kernel, std::size_t n, S* x, const In*... in) {
  if constexpr (sizeof...(In) > 0 && (... && std::is_same_v<In, S>)) {
    const S* const inputs[] = {in...};
    if (calls_compiled<MapKey<S, Kernel, sizeof...(In)>>(MapCall<S>{&kernel, n, x, inputs})) return;
  }
  map_range(kernel, n, x, in...);
}

// Same as add_column_sums().
template <class S, class Terms>
void best_add_column_sums(const Terms& terms, std::size_t rows, std::size_t cols, std::size_t begin, std::size_t end,
                          S* const (&outs)[Terms::count]) {
  if constexpr (std::is_same_v<Terms, ElementTerms<Itself, S, S>>)
    if (calls_compiled<ColumnSumsKey<S>>(ColumnSumsCall<S>{terms.x, rows, cols, begin, end, outs[0]})) return;
  add_column_sums<S>(terms, rows, cols, begin, end, outs);
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
