// The definitions behind gemm.hpp, by Eigen, which must leave the threads to the backend: its own would change results
// with their number.
#pragma once

#if defined(_OPENMP) && !defined(EIGEN_DONT_PARALLELIZE)
#if defined(EIGEN_CORE_H) || defined(EIGEN_CORE_MODULE_H)
#error \
    "algoperf: with OpenMP, define EIGEN_DONT_PARALLELIZE before the first include of Eigen (or include algoperf first)"
#endif
#define EIGEN_DONT_PARALLELIZE
#endif

#include <Eigen/Core>
#include <cstddef>

#include "gemm.hpp"

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

template <class S>
void gemm_nn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  detail::assign(m, n, c, ldc, accumulate, detail::matrix(a, m, k, lda) * detail::matrix(b, k, n, ldb));
}
template <class S>
void gemm_nt(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  detail::assign(m, n, c, ldc, accumulate, detail::matrix(a, m, k, lda) * detail::matrix(b, n, k, ldb).transpose());
}
template <class S>
void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  detail::assign(m, n, c, ldc, accumulate, detail::matrix(a, k, m, lda).transpose() * detail::matrix(b, k, n, ldb));
}

}  // namespace algoperf
