// The library algoperf::gemm by default: the same products as the headers (gemm_default.hpp), compiled once. Compile
// it for the same processor as the programs that link it, because they share inline functions.
#include "algoperf/backend/products/gemm_default.hpp"
#include "gemm_instances.hpp"

ALGOPERF_INSTANTIATE_GEMMS(float);
ALGOPERF_INSTANTIATE_GEMMS(double);
