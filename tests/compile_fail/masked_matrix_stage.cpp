// expect: algoperf: a matrix stage cannot be masked: select its tensors with partition(...)
#include <algoperf/rules/all.hpp>

auto stage = algoperf::masked(algoperf::Orthogonalize{}, algoperf::matrices);
