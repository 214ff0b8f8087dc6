// expect: algoperf: Descend cannot be masked: the other tensors would climb by the whole gradient
#include <algoperf/rules/all.hpp>

auto stage = algoperf::masked(algoperf::Descend{}, algoperf::matrices);
