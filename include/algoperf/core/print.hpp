// print(x) writes describe(x) to standard output. x may be of any type whose describe returns a std::string.
#pragma once

#include <cstdio>

#include "config.hpp"

namespace algoperf {

template <class T>
requires requires(const T& x) { describe(x).c_str(); }
void print(const T& described) { std::fputs(describe(described).c_str(), stdout); }

}  // namespace algoperf
