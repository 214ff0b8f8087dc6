#pragma once

#include "../chain/chain.hpp"
#include "../stages/descend.hpp"
#include "../stages/yogi.hpp"

namespace algoperf {

// Yogi (Zaheer et al. 2018, Algorithm 2): p' = p - lr yogi(g), optax's defaults. Two floats of state, 28 bytes a
// parameter.
constexpr auto yogi(Yogi options = {}) { return chain(options, Descend{}); }

}  // namespace algoperf
