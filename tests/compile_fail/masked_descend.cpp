// expect: algoperf: Descend cannot be masked: the excluded tensors would move uphill by the whole gradient
#include <algoperf/rules/all.hpp>

auto stage = algoperf::masked(algoperf::Descend{}, algoperf::matrices);
