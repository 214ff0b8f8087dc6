// expect: algoperf: in chain(stages..., rule), the rule scales by the learning rate: remove Descend{}
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = chain(Descend{}, partition(matrices, muon(), otherwise, adamw()));
