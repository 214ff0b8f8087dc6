// expect: algoperf: a stage that sees the parameters to come, such as WeightAverage, must stand last in a chain
#include <algoperf/rules/all.hpp>

auto rule = algoperf::chain(algoperf::WeightAverage{}, algoperf::Descend{});
