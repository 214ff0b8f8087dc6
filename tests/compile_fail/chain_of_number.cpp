// expect: algoperf: chain(...) takes stages such as Adam{} or Descend{}, not a number or a pointer
#include <algoperf/rules/all.hpp>

auto rule = algoperf::chain(0.1, algoperf::Descend{});
