// expect: algoperf: a stage that reads the updated parameters, such as WeightAverage, must come last in a chain
#include <algoperf/rules/all.hpp>

auto rule = algoperf::chain(algoperf::WeightAverage{}, algoperf::Descend{});
