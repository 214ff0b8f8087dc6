// expect: algoperf: stop_gradient<count>(model) must leave at least one layer to train
#include <algoperf/algoperf.hpp>

constexpr auto model = algoperf::stop_gradient<3>(algoperf::mlp(algoperf::Shape{4}, {4}, 2));
