#pragma once

#include <type_traits>

#include "../../core/tensor_spec.hpp"
#include "../stages/decayed_weights.hpp"
#include "masked.hpp"

namespace algoperf {

namespace detail {

// Returns masked(stage, where), or the stage itself if `where` is `otherwise`, which accepts all tensors.
template <class Stage, class Where>
constexpr auto masked_unless_everywhere(const Stage& stage, const Where& where) {
  if constexpr (std::is_same_v<Where, Otherwise>)
    return stage;
  else
    return masked(stage, where);
}

}  // namespace detail

// Weight decay of the tensors that `where` accepts: DecayedWeights, masked by `where` unless `where` is `otherwise`.
// Recipes take `where` as their second argument: adamw({.weight_decay = 0.1}, decayable).
template <class Where>
constexpr auto decay(double rate, const Where& where) {
  return detail::masked_unless_everywhere(DecayedWeights{.rate = rate}, where);
}

}  // namespace algoperf
