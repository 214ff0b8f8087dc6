// Implements gemm.hpp with Eigen.
#pragma once

#define ALGOPERF_GEMM_CHOSEN  // keeps gemm.hpp from including another implementation

#include <cstddef>

#include "eigen_matrix.hpp"
#include "gemm.hpp"

namespace algoperf {
namespace detail {

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

// A multiple of Eigen's register blocks for every instruction set.
template <class S>
std::size_t gemm_column_step() {
  return 48;
}

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
void gemm_nt_bias(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
                  const S* bias, S* c, std::size_t ldc) {
  detail::add_product_to_bias(m, n, k, a, lda, b, ldb, bias, c, ldc);
}
template <class S>
void gemm_tn(std::size_t m, std::size_t n, std::size_t k, const S* a, std::size_t lda, const S* b, std::size_t ldb,
             S* c, std::size_t ldc, bool accumulate) {
  detail::assign(m, n, c, ldc, accumulate, detail::matrix(a, k, m, lda).transpose() * detail::matrix(b, k, n, ldb));
}

}  // namespace algoperf
