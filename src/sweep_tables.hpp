// The sweeps of common update rules (common_sweeps.hpp), compiled for several instruction sets. There is no table for
// SSE2, because every program for x86-64 is compiled for at least that.
#pragma once

#include <cstddef>

#include "algoperf/backend/host/sweep_call.hpp"

namespace algoperf::sweeps {

template <class S>
struct Functions {
  const detail::CompiledSweep<S>* sweeps;
  std::size_t count;
};

struct Table {
  Functions<float> of_float;
  Functions<double> of_double;
};

extern const Table avx2, avx512;

}  // namespace algoperf::sweeps
