// The library algoperf::gemm: Eigen's products, compiled once. Compile it for the same processor as the files that
// link it, since Eigen's inline functions are shared between them.
#define ALGOPERF_GEMM_INLINE
#include "algoperf/backend/gemm.hpp"
#include "algoperf/backend/gemm_eigen.hpp"
