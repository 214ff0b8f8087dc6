// The sweeps of common update rules (common_sweeps.hpp), the maps of common layers (common_maps.hpp) and sums of
// columns, compiled for several instruction sets. There is no table for SSE2, because every program for x86-64 is
// compiled for at least that.
#pragma once

#include <cstddef>

#include "algoperf/backend/host/kernel_call.hpp"

namespace algoperf::kernels {

template <class Call>
struct Kernels {
  const detail::CompiledKernel<Call>* first;
  std::size_t count;
};

// Converts to the kernels that take a type of call.
struct Table : Kernels<detail::SweepCall<float>>,
               Kernels<detail::SweepCall<double>>,
               Kernels<detail::MapCall<float>>,
               Kernels<detail::MapCall<double>>,
               Kernels<detail::ColumnSumsCall<float>>,
               Kernels<detail::ColumnSumsCall<double>> {};

extern const Table avx2, avx512;

}  // namespace algoperf::kernels
