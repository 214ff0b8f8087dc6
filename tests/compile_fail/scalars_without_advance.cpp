// expect: algoperf: a stage with Scalars needs `void advance(Step, Scalars&) const`
#include <algoperf/rules/all.hpp>

struct Stage : algoperf::DecayedWeights {
  struct Scalars {
    double sum = 0;
  };
};
auto rule = algoperf::chain(Stage{}, algoperf::Descend{});
