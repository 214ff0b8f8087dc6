// The products of those who choose none: tiles of our own where there is AVX-512, of which Eigen 3.4 uses two thirds to
// three quarters; else Eigen's. In .cu files Eigen's always, for nvcc knows no vectors.
#pragma once

#include "../../core/config.hpp"

#if defined(__AVX512F__) && !ALGOPERF_IN_CUDA_FILE
#include "gemm_tiles.hpp"
#else
#include "gemm_eigen.hpp"
#endif
