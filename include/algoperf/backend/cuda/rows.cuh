// Loops of the CUDA backend over rows, with a warp or a block as the team of each row.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../../core/config.hpp"
#include "device.cuh"
#include "team.cuh"

namespace algoperf::detail {

template <bool whole_block, class F>
__global__ void __launch_bounds__(cuda_block) cuda_run_rows(std::size_t rows, const F f) {
  constexpr unsigned teams = cuda_block / CudaTeam<whole_block>::size;
  const std::size_t first = std::size_t{blockIdx.x} * teams + threadIdx.x / CudaTeam<whole_block>::size;
  for (std::size_t r = first; r < rows; r += std::size_t{gridDim.x} * teams) f(CudaTeam<whole_block>{}, r);
}

// Calls f(team, r) for r in [0, rows). The team of a row is a warp, or a block if `cost` exceeds 16 elements per thread
// of a warp.
template <class F>
void cuda_rows(const CudaDevice& device, std::size_t rows, std::size_t cost, const F& f) {
  static_assert(std::is_trivially_copyable_v<F>, "algoperf: a functor must be trivially copyable to run on a device");
  if (rows == 0) return;
  constexpr std::size_t long_row = 16 * cuda_warp;
  if (cost > long_row) {
    cuda_launch(device, device.blocks(rows), cuda_block, cuda_run_rows<true, F>, rows, f);
  } else {
    constexpr std::size_t teams = cuda_block / cuda_warp;
    cuda_launch(device, device.blocks((rows + teams - 1) / teams), cuda_block, cuda_run_rows<false, F>, rows, f);
  }
}

}  // namespace algoperf::detail
