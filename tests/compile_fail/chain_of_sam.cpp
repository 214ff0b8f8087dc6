// expect: algoperf: sam(...), armijo(...), apply_if_finite(...) and mixed_precision(...) stand around all else
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = chain(ClipByGlobalNorm{}, sam(adamw()));
