// The library algoperf::gemm if ALGOPERF_GEMM=eigen: matrix products by Eigen. Compile it for the same processor as
// the programs that link it, because they share Eigen's inline functions.
#include "algoperf/backend/products/gemm_eigen.hpp"

#include <string>

#include "algoperf/backend/host/instruction_set.hpp"
#include "instances.hpp"

std::string algoperf::products_by() {
  return std::string("products by Eigen, convolutions by the library's tiles, compiled for ") +
         name(ALGOPERF_COMPILED_FOR);
}

ALGOPERF_INSTANTIATE_GEMMS(float);
ALGOPERF_INSTANTIATE_GEMMS(double);
