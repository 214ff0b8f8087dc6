// expect: algoperf: masked(stage, where) needs `bool where(const TensorSpec&)`, e.g. decayable
#include <algoperf/rules/all.hpp>

auto stage = algoperf::masked(algoperf::DecayedWeights{}, 0.1);
