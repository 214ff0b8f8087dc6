// expect: algoperf: partition takes pairs `where, rule, where, rule, ...`, usually ending in `otherwise, rule`
#include <algoperf/rules/all.hpp>

auto rule = algoperf::partition(algoperf::matrices, algoperf::muon(), algoperf::adamw());
