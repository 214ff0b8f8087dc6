// expect: algoperf: apply_if_finite(...) must check the gradient that the rule steps with
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = apply_if_finite(sam(adamw()));
