// expect: algoperf: a layer needs `constexpr Shape output(Shape in) const`
#include <algoperf/nn/all.hpp>

algoperf::Model model(algoperf::Shape{784}, algoperf::Dense{.units = 10}, 3);
