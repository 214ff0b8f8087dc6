// expect: algoperf: a recipe must be called: write adamw(), not adamw
#include <algoperf/rules/all.hpp>

auto rule = algoperf::chain(algoperf::ClipByGlobalNorm{}, algoperf::adamw);
