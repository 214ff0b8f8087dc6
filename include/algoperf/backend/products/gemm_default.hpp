// The default provider of matrix products: gemm_tiles.hpp. In .cu files it is Eigen, because nvcc does not support
// vector types.
#pragma once

#include "../../core/config.hpp"

#if ALGOPERF_IN_CUDA_FILE
#include "gemm_eigen.hpp"
#else
#include "gemm_tiles.hpp"
#endif
