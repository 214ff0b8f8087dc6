// expect: algoperf: sam(...), armijo(...), apply_if_finite(...) and mixed_precision(...) must wrap the whole partition
#include <algoperf/rules/all.hpp>

auto rule =
    algoperf::partition(algoperf::matrices, algoperf::sam(algoperf::sgd()), algoperf::otherwise, algoperf::sgd());
