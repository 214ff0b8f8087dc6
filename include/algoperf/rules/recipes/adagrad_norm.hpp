#pragma once

#include "../chain/chain.hpp"
#include "../stages/adagrad_norm.hpp"
#include "../stages/descend.hpp"

namespace algoperf {

// SGD with the AdaGrad-norm step (stages/adagrad_norm.hpp): p' = p - lr g / sqrt(start + sum of |g_j|^2 before). One
// scalar of state, 4 + 12 bytes a parameter.
constexpr auto adagrad_norm(AdagradNorm options = {}) { return chain(options, Descend{}); }

}  // namespace algoperf
