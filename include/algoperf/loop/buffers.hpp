// BufferUpdate: how a step updates buffers, tensors that rules do not receive (core/tensor_spec.hpp). It subtracts
// their "gradient" where that is finite.
#pragma once

#include <cstddef>

#include "../core/math.hpp"
#include "../rules/chain/chain.hpp"

namespace algoperf::detail {

struct BufferUpdate {
  static constexpr bool applies_learning_rate = true;  // which is always 1

  struct Kernel {
    static constexpr std::size_t slots = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 0>&) const {
      return math::select<T>(u - u == T(0), -u, T(0));
    }
  };
  template <class S>
  ALGOPERF_HD Kernel at(Step) const {
    return {};
  }
};
using BufferUpdateRule = Chain<BufferUpdate>;

}  // namespace algoperf::detail
