// expect: algoperf: in chain(stages..., rule), a stage that averages parameters does not see the rule's updates
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = chain(WeightAverage{}, partition(matrices, muon(), otherwise, adamw()));
