// expect: algoperf: a layer needs `constexpr Shape output(Shape in) const`
#include <algoperf/nn/all.hpp>

algoperf::Sequential model(algoperf::Relu{}, 10);
