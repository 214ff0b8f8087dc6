// The library algoperf::gemm with ALGOPERF_GEMM=eigen: products by Eigen. Compile it for the same processor as the
// files that link it, since Eigen's inline functions are shared between them.
#include "algoperf/backend/products/gemm_eigen.hpp"
#include "gemm_instances.hpp"

ALGOPERF_INSTANTIATE_GEMMS(float);
ALGOPERF_INSTANTIATE_GEMMS(double);
