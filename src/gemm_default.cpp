// The library algoperf::gemm: the products that headers would choose, compiled once. Compile it for the same processor
// as the files that link it, since inline functions are shared between them.
#include "algoperf/backend/products/gemm_default.hpp"
#include "gemm_instances.hpp"

ALGOPERF_INSTANTIATE_GEMMS(float);
ALGOPERF_INSTANTIATE_GEMMS(double);
