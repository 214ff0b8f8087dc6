// expect: algoperf: what is to be finite is the gradient a rule steps with: write sam(apply_if_finite(...))
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = apply_if_finite(sam(adamw()));
