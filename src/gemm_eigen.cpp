// The library algoperf::gemm if ALGOPERF_GEMM=eigen: matrix products by Eigen. Compile it for the same processor as
// the programs that link it, because they share Eigen's inline functions.
#include "algoperf/backend/products/gemm_eigen.hpp"
#include "instances.hpp"

const char* algoperf::gemm_provider() {
  return "products, and the weight gradients of 1 x 1 convolutions: Eigen; other convolutions: the library's tiles";
}

ALGOPERF_INSTANTIATE_GEMMS(float);
ALGOPERF_INSTANTIATE_GEMMS(double);
ALGOPERF_COLUMN_STEP(48, 48)
