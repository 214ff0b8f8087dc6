// expect: algoperf: chain(...) takes stages such as Adam{} or Descend{}, not a number or a pointer
#include <algoperf/rules/all.hpp>

algoperf::Adam adam;
auto rule = algoperf::chain(&adam, algoperf::Descend{});
