// require: declared here alone, so that the small headers that check a hyperparameter stay small. It is a template, and
// whoever calls such a check() (a chain does) includes core/error.hpp, where it is defined.
#pragma once

#include "config.hpp"

namespace algoperf {

// Throws Error with the parts written one after the other: fail("sgd: momentum is ", x, ", expected ", "[0, 1)").
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts);

template <class... Parts>
void require(bool condition, const Parts&... parts);

}  // namespace algoperf
