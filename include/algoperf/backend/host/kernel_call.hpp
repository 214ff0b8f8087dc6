// The kernels that algoperf::gemm contains for several instruction sets. Kernels are passed as void*, because their
// types have other names in each file of algoperf::gemm that is compiled for one instruction set.
#pragma once

#include <cstddef>
#include <typeinfo>

#include "instruction_set.hpp"

namespace algoperf::detail {

// The arguments of a sweep over [begin, end). `stage` measures, and `sums` receives what it measures; both are null if
// the sweep measures nothing.
template <class S>
struct SweepCall {
  const void* kernel;
  const void* stage;
  S *u, *p, *slots;
  std::size_t stride, begin, end;
  double* sums;
};

// The arguments of a map over n elements: x[i] = kernel(x[i], inputs[0][i], inputs[1][i], ...).
template <class S>
struct MapCall {
  const void* kernel;
  std::size_t n;
  S* x;
  const S* const* inputs;
};

// The arguments of sums over rows: out[c] = sum over r of x[r][c], for c in [begin, end).
template <class S>
struct ColumnSumsCall {
  const S* x;
  std::size_t rows, cols, begin, end;
  S* out;
};

template <class Call>
using CompiledKernel = void (*)(const Call&);

// Returns the sweep, map or sum with the given key (compiled_kernels.hpp) for the instruction set that algoperf::gemm
// chose for this processor. Returns null if algoperf::gemm does not contain it, or if `level`, the instruction set of
// the calling file, is at least as high. Defined in src/kernels.cpp. Throws Error as gemm_provider does.
template <class Call>
CompiledKernel<Call> find_compiled_kernel(const std::type_info& key, InstructionSet level);

}  // namespace algoperf::detail
