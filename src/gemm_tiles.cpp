// The library algoperf::gemm with ALGOPERF_GEMM=tiles: products of our own, whatever the processor.
#include "algoperf/backend/products/gemm_tiles.hpp"
#include "gemm_instances.hpp"

ALGOPERF_INSTANTIATE_GEMMS(float);
ALGOPERF_INSTANTIATE_GEMMS(double);
