// print(x) writes describe(x) to standard output, for a rule or a backend.
#pragma once

#include <cstdio>

#include "config.hpp"

namespace algoperf {

template <class T>
requires requires(const T& x) { describe(x).c_str(); }
void print(const T& described) { std::fputs(describe(described).c_str(), stdout); }

}  // namespace algoperf
