// expect: algoperf: this chain scales by the learning rate more than once: keep one Descend{}
#include <algoperf/rules/all.hpp>

auto rule = algoperf::chain(algoperf::Descend{}, algoperf::Momentum{}, algoperf::Descend{});
