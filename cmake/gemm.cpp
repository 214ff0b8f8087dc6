// The library algoperf::gemm: Eigen's products, compiled once. Compile it for the same processor as the files that
// link it, since Eigen's inline functions are shared between them.
#include "algoperf/backend/gemm.hpp"
#include "algoperf/backend/gemm_eigen.hpp"

#define ALGOPERF_INSTANTIATE_GEMM(name, S)                                                                             \
  template void algoperf::name<S>(std::size_t, std::size_t, std::size_t, const S*, std::size_t, const S*, std::size_t, \
                                  S*, std::size_t, bool)
ALGOPERF_INSTANTIATE_GEMM(gemm_nn, float);
ALGOPERF_INSTANTIATE_GEMM(gemm_nt, float);
ALGOPERF_INSTANTIATE_GEMM(gemm_tn, float);
ALGOPERF_INSTANTIATE_GEMM(gemm_nn, double);
ALGOPERF_INSTANTIATE_GEMM(gemm_nt, double);
ALGOPERF_INSTANTIATE_GEMM(gemm_tn, double);
