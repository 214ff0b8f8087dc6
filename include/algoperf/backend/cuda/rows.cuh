// Loops of the CUDA backend over rows, with a part of a warp, a warp or a block as the team of each row.
#pragma once

#include <cstddef>
#include <type_traits>

#include "../../core/config.hpp"
#include "device.cuh"
#include "team.cuh"

namespace algoperf::detail {

// Whether a functor promises, by `elementwise = true`, that it calls neither sum() nor max().
template <class F>
inline constexpr bool is_elementwise = requires {
  requires F::elementwise;
};

template <unsigned team, class F>
__global__ void __launch_bounds__(cuda_block) cuda_run_rows(std::size_t rows, const F f) {
  constexpr unsigned teams = cuda_block / team;
  const std::size_t first = std::size_t{blockIdx.x} * teams + threadIdx.x / team;
  for (std::size_t r = first; r < rows; r += std::size_t{gridDim.x} * teams) f(CudaTeam<team>{}, r);
}

// Calls f(team, r) for r in [0, rows). The team of a row is a warp; or a block, if the rows are long and too few to
// fill a device with warps; or part of a warp, if the rows are short and many and the functor is
// elementwise.
template <class F>
void cuda_rows(const CudaDevice& device, std::size_t rows, std::size_t cost, const F& f) {
  static_assert(std::is_trivially_copyable_v<F>, "algoperf: a functor must be trivially copyable to run on a device");
  if (rows == 0) return;
  constexpr std::size_t long_row = 64 * cuda_warp, many_rows = 8192, short_row = 8 * cuda_warp;
  const auto run = [&](auto team) {
    constexpr unsigned teams = cuda_block / team.value;
    cuda_launch(device, device.blocks((rows + teams - 1) / teams), cuda_block, cuda_run_rows<team.value, F>, rows, f);
  };
  if constexpr (is_elementwise<F>)
    if (cost <= short_row && rows >= many_rows) return run(std::integral_constant<unsigned, cuda_warp / 4>{});
  if (cost > long_row && rows < many_rows)
    run(std::integral_constant<unsigned, cuda_block>{});
  else
    run(std::integral_constant<unsigned, cuda_warp>{});
}

}  // namespace algoperf::detail
