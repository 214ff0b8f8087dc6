// expect: algoperf: sam(...), armijo(...), apply_if_finite(...) and mixed_precision(...) must wrap the whole chain
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = chain(ClipByGlobalNorm{}, sam(adamw()));
