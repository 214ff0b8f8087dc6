// expect: algoperf: a recipe must be called: write adamw(), not adamw
#include <algoperf/rules/all.hpp>

auto rule = algoperf::partition(algoperf::matrices, algoperf::muon(), algoperf::otherwise, algoperf::adamw);
