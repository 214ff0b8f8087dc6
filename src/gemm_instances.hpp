// Macros that instantiate the matrix products at the end of each provider's source file.
#pragma once

#define ALGOPERF_INSTANTIATE_GEMM(name, S)                                                                             \
  template void algoperf::name<S>(std::size_t, std::size_t, std::size_t, const S*, std::size_t, const S*, std::size_t, \
                                  S*, std::size_t, bool)
#define ALGOPERF_INSTANTIATE_GEMMS(S)    \
  ALGOPERF_INSTANTIATE_GEMM(gemm_nn, S); \
  ALGOPERF_INSTANTIATE_GEMM(gemm_nt, S); \
  ALGOPERF_INSTANTIATE_GEMM(gemm_tn, S)
