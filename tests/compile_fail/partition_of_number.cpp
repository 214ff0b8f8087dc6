// expect: algoperf: partition takes pairs `where, rule`: rule is a chain(...) or a recipe such as adamw()
#include <algoperf/rules/all.hpp>

auto rule = algoperf::partition(algoperf::otherwise, 0.1);
