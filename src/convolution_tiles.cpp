// The convolutions of algoperf::gemm, unless oneDNN provides them or they are compiled for several instruction sets
// (gemm_tiles.cpp).
#include "algoperf/backend/products/convolution_tiles.hpp"
#include "algoperf/backend/products/depthwise_tiles.hpp"
#include "instances.hpp"

ALGOPERF_INSTANTIATE_CONVOLUTIONS(float);
ALGOPERF_INSTANTIATE_CONVOLUTIONS(double);
