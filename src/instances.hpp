// Macros for the end of a provider's source file. They instantiate matrix products and convolutions.
#pragma once

#define ALGOPERF_INSTANTIATE_GEMM(name, S)                                                                             \
  template void algoperf::name<S>(std::size_t, std::size_t, std::size_t, const S*, std::size_t, const S*, std::size_t, \
                                  S*, std::size_t, bool)
#define ALGOPERF_INSTANTIATE_GEMMS(S)                                                                             \
  ALGOPERF_INSTANTIATE_GEMM(gemm_nn, S);                                                                          \
  ALGOPERF_INSTANTIATE_GEMM(gemm_nt, S);                                                                          \
  ALGOPERF_INSTANTIATE_GEMM(gemm_tn, S);                                                                          \
  template void algoperf::gemm_nt_bias<S>(std::size_t, std::size_t, std::size_t, const S*, std::size_t, const S*, \
                                          std::size_t, const S*, S*, std::size_t)

#define ALGOPERF_INSTANTIATE_CONVOLUTIONS_OF(P, S)                                               \
  template void algoperf::convolve<S>(const algoperf::P&, const S*, const S*, const S*, S*);     \
  template void algoperf::convolve_back_to_input<S>(const algoperf::P&, const S*, const S*, S*); \
  template void algoperf::convolve_back_to_weight<S>(const algoperf::P&, const S*, const S*, S*)
#define ALGOPERF_INSTANTIATE_CONVOLUTIONS(S)            \
  ALGOPERF_INSTANTIATE_CONVOLUTIONS_OF(Convolution, S); \
  ALGOPERF_INSTANTIATE_CONVOLUTIONS_OF(DepthwiseConvolution, S)

// Defines gemm_column_step().
#define ALGOPERF_COLUMN_STEP(of_float, of_double)    \
  template <>                                        \
  std::size_t algoperf::gemm_column_step<float>() {  \
    return of_float;                                 \
  }                                                  \
  template <>                                        \
  std::size_t algoperf::gemm_column_step<double>() { \
    return of_double;                                \
  }
