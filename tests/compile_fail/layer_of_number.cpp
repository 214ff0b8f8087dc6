// expect: algoperf: a part of a model must be a layer, e.g. Dense{}, an op, or a block
#include <algoperf/nn/all.hpp>

algoperf::Sequential model(algoperf::Relu{}, 10);
