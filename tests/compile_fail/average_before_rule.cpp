// expect: algoperf: in chain(stages..., rule) a stage that averages parameters sees none of the rule's
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = chain(WeightAverage{}, partition(matrices, muon(), otherwise, adamw()));
