// The operations of common layers on Host. Their own loops over SIMD vectors run only where algoperf::gemm contains no
// kernel for the processor (kernel_table.cpp).
#include "algoperf/algoperf.hpp"

ALGOPERF_LAYER_INSTANCES(, float);
ALGOPERF_LAYER_INSTANCES(, double);
