// Implements linear_algebra.hpp with Eigen.
#pragma once

#include "eigen_matrix.hpp"  // first: it disables Eigen's own threads
//
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cstddef>

#include "linear_algebra.hpp"

namespace algoperf {
namespace detail {

template <class S>
Eigen::MatrixXd widened(std::size_t n, const S* a) {
  return matrix(a, n, n, n).template cast<double>();
}

template <class S, class Matrix>
void narrow(std::size_t n, const Matrix& from, S* to) {
  const auto side = static_cast<Eigen::Index>(n);
  Eigen::Map<RowMajor<S>>(to, side, side) = from.template cast<S>();
}

}  // namespace detail

template <class S>
bool LinearAlgebra<S>::eigh(std::size_t n, const S* a, S* values, S* vectors) {
  const Eigen::MatrixXd wide = detail::widened(n, a);
  if (!wide.allFinite()) return false;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(wide);
  if (solver.info() != Eigen::Success) return false;
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<S>(solver.eigenvalues()[static_cast<Eigen::Index>(i)]);
  detail::narrow(n, solver.eigenvectors(), vectors);
  return true;
}

template <class S>
void LinearAlgebra<S>::qr(std::size_t n, const S* a, S* q) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> solver(detail::widened(n, a));
  const Eigen::MatrixXd orthogonal = solver.householderQ();
  detail::narrow(n, orthogonal, q);
}

}  // namespace algoperf
