// expect: algoperf: sam(...), armijo(...), apply_if_finite(...) and mixed_precision(...) must wrap the whole partition
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = partition(matrices, mixed_precision<bfloat16>(adamw()), otherwise, adamw());
