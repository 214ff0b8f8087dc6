// The default provider of matrix products. With AVX-512 it is gemm_tiles.hpp, because Eigen 3.4 reaches only two
// thirds to three quarters of the peak of AVX-512; otherwise it is Eigen. In .cu files it is always Eigen, because
// nvcc does not support vector types.
#pragma once

#include "../../core/config.hpp"

#if defined(__AVX512F__) && !ALGOPERF_IN_CUDA_FILE
#include "gemm_tiles.hpp"
#else
#include "gemm_eigen.hpp"
#endif
