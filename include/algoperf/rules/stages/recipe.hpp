// Declares chain(...) for stage headers that also define a recipe. Including the definition would make these headers
// several times slower to compile. A program that calls such a recipe must therefore also include algoperf.hpp or
// rules/chain/chain.hpp.
#pragma once

#include <concepts>

#include "descend.hpp"

namespace algoperf {

template <class... Stages>
constexpr auto chain(Stages... stages);

}  // namespace algoperf
