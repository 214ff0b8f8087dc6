#pragma once

#include "../../core/config.hpp"

namespace algoperf {

// What a server does with a gradient whose delay exceeds the number of workers that compute at the same time, tau_C:
// apply it, apply it multiplied by tau_C / delay, or drop it.
enum class Stale { apply, shrink, drop };

}  // namespace algoperf
