// expect: algoperf: Sequential needs at least one layer
#include <algoperf/nn/all.hpp>

algoperf::Sequential<> model;
