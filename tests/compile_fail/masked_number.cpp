// expect: algoperf: chain(...) takes stages such as Adam{} or Descend{}, not a number or a pointer
#include <algoperf/rules/all.hpp>

auto stage = algoperf::masked(0.1, algoperf::decayable);
