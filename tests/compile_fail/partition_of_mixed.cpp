// expect: algoperf: sam(...) moves all parameters at once, so it stands around a partition, not in one
#include <algoperf/rules/all.hpp>
using namespace algoperf;

const auto rule = partition(matrices, mixed_precision<bfloat16>(adamw()), otherwise, adamw());
