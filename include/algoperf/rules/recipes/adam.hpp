#pragma once

#include "../chain/chain.hpp"
#include "../stages/adam.hpp"
#include "../stages/descend.hpp"

namespace algoperf {

// Adam (Kingma & Ba 2015): p' = p - lr adam(g). Two floats of state, 28 bytes a parameter.
constexpr auto adam(Adam options = {}) { return chain(options, Descend{}); }

}  // namespace algoperf
