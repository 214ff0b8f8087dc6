// The definitions behind gemm.hpp, by Eigen: included inline by default, or once by the library algoperf::gemm.
#pragma once

#include <Eigen/Core>
#include <cstddef>

// Never inlined into its callers: one copy of each product, compiled the same wherever it is called from.
#if !defined(ALGOPERF_GEMM_INLINE)
#define ALGOPERF_GEMM_INLINE __attribute__((noinline)) inline
#endif

namespace algoperf {
namespace detail {

template <class S>
using RowMajor = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowStride = Eigen::OuterStride<>;

template <class S>
auto matrix(const S* data, std::size_t rows, std::size_t cols, std::size_t stride) {
  return Eigen::Map<const RowMajor<S>, 0, RowStride>(data, static_cast<Eigen::Index>(rows),
                                                     static_cast<Eigen::Index>(cols),
                                                     RowStride(static_cast<Eigen::Index>(stride)));
}

template <class S, class Product>
void assign(std::size_t m, std::size_t n, S* c, std::size_t ldc, bool accumulate, const Product& product) {
  Eigen::Map<RowMajor<S>, 0, RowStride> out(c, static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(n),
                                            RowStride(static_cast<Eigen::Index>(ldc)));
  if (accumulate) {
    out.noalias() += product;
  } else {
    out.noalias() = product;
  }
}

}  // namespace detail

#define ALGOPERF_DEFINE_GEMM(name, S, left, right)                                                                     \
  ALGOPERF_GEMM_INLINE void name(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, \
                                 std::size_t ldb, S* c, std::size_t ldc, bool accumulate) {                            \
    detail::assign(m, n, c, ldc, accumulate, left* right);                                                             \
  }
#define ALGOPERF_DEFINE_GEMMS(S)                                                                           \
  ALGOPERF_DEFINE_GEMM(gemm_nn, S, detail::matrix(a, m, k, lda), detail::matrix(b, k, n, ldb))             \
  ALGOPERF_DEFINE_GEMM(gemm_nt, S, detail::matrix(a, m, k, lda), detail::matrix(b, n, k, ldb).transpose()) \
  ALGOPERF_DEFINE_GEMM(gemm_tn, S, detail::matrix(a, k, m, lda).transpose(), detail::matrix(b, k, n, ldb))
ALGOPERF_DEFINE_GEMMS(float)
ALGOPERF_DEFINE_GEMMS(double)
#undef ALGOPERF_DEFINE_GEMMS
#undef ALGOPERF_DEFINE_GEMM

}  // namespace algoperf
