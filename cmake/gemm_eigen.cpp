// The library algoperf::gemm: Eigen's products, compiled once. Compile it for the same processor as the files that
// link it, since Eigen's inline functions are shared between them.
#include "algoperf/backend/gemm_eigen.hpp"
#include "algoperf/backend/gemm.hpp"
#include "gemm_instances.hpp"

ALGOPERF_INSTANTIATE_GEMMS(float);
ALGOPERF_INSTANTIATE_GEMMS(double);
