// The losses of rows that may have weights (losses/weighted.hpp).
#pragma once

#include <cstddef>

#include "../../core/map_kernels.hpp"
#include "../losses/weighted.hpp"

namespace algoperf::detail {

// Calls write(weights), which writes the unweighted losses of `rows` rows, and unless weights is null, the gradients of
// sum(weights * losses) / rows. If `weighted`, the op's third input holds a weight per row: `memory`, of a value per
// row, receives the weights of gradients, and in training the losses are multiplied by the rows' weights afterwards.
template <bool weighted, class Call, class F>
void write_row_losses(const Call& call, std::size_t rows, typename Call::Scalar* memory, const F& write) {
  using S = typename Call::Scalar;
  if constexpr (weighted) {
    if (call.weights == nullptr) return write(static_cast<const S*>(nullptr));  // evaluations weight the losses
    const S* const field = static_cast<const S*>(call.x[2]);
    call.pass.backend.for_each_row(1, rows, RowWeights<S>{rows, call.weights, field, memory});
    write(static_cast<const S*>(memory));
    call.pass.backend.map(MultiplyBy{}, rows, call.losses(), field);
  } else {
    write(call.weights);
  }
}

}  // namespace algoperf::detail
