// The library algoperf::gemm if ALGOPERF_GEMM=tiles: the products of gemm_tiles.hpp, with or without AVX-512.
#include "algoperf/backend/products/gemm_tiles.hpp"
#include "gemm_instances.hpp"

ALGOPERF_INSTANTIATE_GEMMS(float);
ALGOPERF_INSTANTIATE_GEMMS(double);
