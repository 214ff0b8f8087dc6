// expect: algoperf: partition takes pairs `where, rule`: where is a predicate `bool (const TensorSpec&)`, e.g. matrices
#include <algoperf/rules/all.hpp>

auto rule = algoperf::partition(algoperf::muon(), algoperf::matrices);
