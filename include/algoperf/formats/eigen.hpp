// Tensors as row-major Eigen matrices: the first axis by all the others, the same view that matrix rules use. Of
// memory or a loop (on a host backend), as_eigen returns a view, which is valid as long as the memory or the loop
// exists. Of a StateDict, it returns a copy.
//
//   as_eigen(loop, "0.weight").rowwise().norm().maxCoeff()
//   as_eigen<float>(load_npz("theirs.npz"), "0.weight")
#pragma once

#include <Eigen/Core>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

#include "../core/error.hpp"
#include "../core/shape.hpp"
#include "../state/state_dict.hpp"

namespace algoperf {

namespace detail {

template <class T>
using RowMajorMatrix = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace detail

// Returns a view of T or const T. Throws Error if the shape has a different number of elements.
template <class T>
auto as_eigen(std::span<T> values, Shape shape) {
  using Matrix = detail::RowMajorMatrix<T>;
  require(values.size() == shape.size(), "as_eigen: there are ", values.size(), " values, the shape has ",
          shape.size());
  return Eigen::Map<std::conditional_t<std::is_const_v<T>, const Matrix, Matrix>>(
      values.data(), static_cast<Eigen::Index>(shape.rows()), static_cast<Eigen::Index>(shape.cols()));
}

// Returns a view of the parameters of `tensor`.
template <class Loop>
auto as_eigen(Loop& loop, const std::string& tensor) {
  static_assert(Loop::Backend::on_host,
                "algoperf: as_eigen needs memory on the host: copy a device's values to the host first");
  return as_eigen(loop.values(tensor), loop.layout().spec(loop.layout().find(tensor)).shape);
}

// Returns a copy of the array `name`. Throws Error if there is no such array or its type is not T.
template <class T>
detail::RowMajorMatrix<T> as_eigen(const StateDict& dict, const std::string& name) {
  const StateDict::Array& found = dict.at<T>(name);
  const std::size_t rows = found.shape.empty() ? 1 : found.shape.front();
  detail::RowMajorMatrix<T> matrix(static_cast<Eigen::Index>(rows),
                                   static_cast<Eigen::Index>(rows == 0 ? 0 : found.size / rows));
  if (!found.bytes.empty()) std::memcpy(matrix.data(), found.bytes.data(), found.bytes.size());
  return matrix;
}

}  // namespace algoperf
