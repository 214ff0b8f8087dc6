// expect: algoperf: a matrix stage cannot be masked: give its tensors to partition(...)
#include <algoperf/rules/all.hpp>

auto stage = algoperf::masked(algoperf::Orthogonalize{}, algoperf::matrices);
