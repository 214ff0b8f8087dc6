// The kernels that algoperf::gemm contains for several instruction sets. This header does not name the types of
// kernels, which are different in each of its files.
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

template <class Call>
using CompiledKernel = void (*)(const Call&);

// Returns the sweep or map with the given key (compiled_kernels.hpp) for the best instruction set of this processor, or
// null if algoperf::gemm does not contain it or `level`, that of the calling file, is as good. Defined in
// src/kernels.cpp. Throws Error as gemm_provider does.
template <class Call>
CompiledKernel<Call> find_compiled_kernel(const std::type_info& key, InstructionSet level);

}  // namespace algoperf::detail
