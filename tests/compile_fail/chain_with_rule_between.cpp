// expect: algoperf: a rule among the stages of a chain, such as partition(...), must come last
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = chain(ClipByGlobalNorm{}, partition(matrices, muon(), otherwise, adamw()), Descend{});
