// The elementwise kernels of common layers, in a fixed order: those that algoperf::gemm contains for several
// instruction sets.
#pragma once

#include <array>
#include <cstddef>

#include "algoperf/core/map_kernels.hpp"
#include "algoperf/nn/layers/gelu.hpp"
#include "algoperf/nn/layers/relu.hpp"
#include "algoperf/nn/layers/silu.hpp"
#include "algoperf/nn/layers/tanh.hpp"

namespace algoperf::detail {

// Returns of_map.operator()<Kernel, inputs>() for each of them.
template <class F>
constexpr auto for_common_maps(const F& of_map) {
  return std::array{
      of_map.template operator()<Add, 1>(),
      of_map.template operator()<Add, 2>(),
      of_map.template operator()<Times, 2>(),
      of_map.template operator()<ReluForward, 1>(),
      of_map.template operator()<ReluBackward, 2>(),
      of_map.template operator()<TanhForward, 1>(),
      of_map.template operator()<TanhBackward, 2>(),
      of_map.template operator()<SiluForward, 1>(),
      of_map.template operator()<SiluBackward, 2>(),
      of_map.template operator()<GeluForward, 1>(),
      of_map.template operator()<GeluBackward, 2>(),
      of_map.template operator()<GeluTanhForward, 1>(),
      of_map.template operator()<GeluTanhBackward, 2>(),
  };
}

}  // namespace algoperf::detail
