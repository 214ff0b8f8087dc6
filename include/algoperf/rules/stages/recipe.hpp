// A declaration of chain(...), for stages that have a recipe in the same file. The definition would make these headers
// several times as expensive to compile: a program that calls such a recipe includes algoperf.hpp or
// rules/chain/chain.hpp, too.
#pragma once

#include <concepts>

#include "descend.hpp"

namespace algoperf {

template <class... Stages>
constexpr auto chain(Stages... stages);

}  // namespace algoperf
