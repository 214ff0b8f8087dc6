// expect: algoperf: chain() needs at least one stage, e.g. chain(Descend{})
#include <algoperf/rules/all.hpp>

auto rule = algoperf::chain();
