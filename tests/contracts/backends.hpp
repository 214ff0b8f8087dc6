// The backends that the contracts run on in this program. A backend that needs a program of its own (Thrust) has a list
// of its own there, and calls the same contracts.
#pragma once

#include <tuple>

#include "algoperf/backend/host.hpp"

namespace algoperf::testing {

using Backends = std::tuple<Host<float>, Host<double>>;

}  // namespace algoperf::testing
