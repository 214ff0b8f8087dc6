// expect: algoperf: sam(...), armijo(...) and apply_if_finite(...) stand around all else: sam(chain(...))
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = chain(ClipByGlobalNorm{}, sam(adamw()));
