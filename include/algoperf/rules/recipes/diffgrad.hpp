#pragma once

#include "../chain/chain.hpp"
#include "../stages/descend.hpp"
#include "../stages/diffgrad.hpp"

namespace algoperf {

// diffGrad (Dubey et al. 2019, arXiv:1909.11015): p' = p - lr diffgrad(g). Three floats of state, 36 bytes a parameter.
constexpr auto diffgrad(DiffGrad options = {}) { return chain(options, Descend{}); }

}  // namespace algoperf
