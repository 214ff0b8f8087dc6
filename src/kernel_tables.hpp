// The sweeps of common update rules and the maps of common layers (common_sweeps.hpp, common_maps.hpp), compiled for
// several instruction sets. There is no table for SSE2, because every program for x86-64 is compiled for at least that.
#pragma once

#include <cstddef>

#include "algoperf/backend/host/kernel_call.hpp"

namespace algoperf::kernels {

template <class Call>
struct Kernels {
  const detail::CompiledKernel<Call>* first;
  std::size_t count;
};

struct Table {
  Kernels<detail::SweepCall<float>> float_sweeps;
  Kernels<detail::SweepCall<double>> double_sweeps;
  Kernels<detail::MapCall<float>> float_maps;
  Kernels<detail::MapCall<double>> double_maps;
};

extern const Table avx2, avx512;

}  // namespace algoperf::kernels
