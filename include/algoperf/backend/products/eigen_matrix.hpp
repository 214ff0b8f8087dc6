// Eigen maps of row-major matrices. Eigen's own threads are disabled, because with them results would depend on the
// number of threads; the backend provides threads instead.
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

#include "../../core/config.hpp"

namespace algoperf::detail {

template <class S>
using RowMajor = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowStride = Eigen::OuterStride<>;

template <class S>
auto matrix(const S* data, std::size_t rows, std::size_t cols, std::size_t stride) {
  return Eigen::Map<const RowMajor<S>, 0, RowStride>(data, static_cast<Eigen::Index>(rows),
                                                     static_cast<Eigen::Index>(cols),
                                                     RowStride(static_cast<Eigen::Index>(stride)));
}

}  // namespace algoperf::detail
