// expect: algoperf: a part of a model must be a layer, e.g. Dense{}, an op, or a block
#include <algoperf/nn/all.hpp>

algoperf::Model model(algoperf::Shape{784}, algoperf::Dense{.units = 10}, 3);
