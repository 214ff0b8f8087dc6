// expect: algoperf: sam(...) moves all parameters at once, so it stands around a partition, not in one
#include <algoperf/rules/all.hpp>

auto rule =
    algoperf::partition(algoperf::matrices, algoperf::sam(algoperf::sgd()), algoperf::otherwise, algoperf::sgd());
