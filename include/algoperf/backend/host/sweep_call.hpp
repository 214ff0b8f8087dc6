// The sweeps of common rules that algoperf::gemm contains for several instruction sets. This header does not name the
// types of kernels, which are different in each of its files.
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

template <class S>
using CompiledSweep = void (*)(const SweepCall<S>&);

// Returns the sweep with the given key (SweepKey, compiled_sweeps.hpp) for the best instruction set of this processor,
// or null if algoperf::gemm does not contain that sweep or `level`, that of the calling file, is as good. Defined in
// src/sweeps.cpp. Throws Error as gemm_provider does.
template <class S>
CompiledSweep<S> find_compiled_sweep(const std::type_info& key, InstructionSet level);

}  // namespace algoperf::detail
