#pragma once

#include "../core/config.hpp"

namespace algoperf {

// The vectors that a combiner combines: the workers' gradients, before a single step of the rule, or their updates of
// the parameters, after each of the W workers has stepped with its own rule state.
enum class Of { gradients, updates };

}  // namespace algoperf
