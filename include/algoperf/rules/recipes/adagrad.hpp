#pragma once

#include "../chain/chain.hpp"
#include "../stages/adagrad.hpp"
#include "../stages/descend.hpp"

namespace algoperf {

// Adagrad (Duchi et al. 2011): p' = p - lr adagrad(g), torch's defaults. One float of state, 20 bytes a parameter.
constexpr auto adagrad(Adagrad options = {}) { return chain(options, Descend{}); }

}  // namespace algoperf
