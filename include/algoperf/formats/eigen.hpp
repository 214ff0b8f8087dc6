// Tensors as Eigen's matrices, without a copy: row-major maps of the first axis by all the rest, as matrix rules see
// tensors. They last as long as the memory does; of a loop, which must work on the host, as long as it.
//
//   as_eigen(loop, "0.weight").rowwise().norm().maxCoeff()
#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <type_traits>

#include "../core/error.hpp"
#include "../core/shape.hpp"

namespace algoperf {

namespace detail {

template <class T>
using RowMajorMatrix = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace detail

// Of T or const T. Throws Error where the shape has another number of elements.
template <class T>
auto as_eigen(std::span<T> values, Shape shape) {
  using Matrix = detail::RowMajorMatrix<T>;
  require(values.size() == shape.size(), "as_eigen: there are ", values.size(), " values, the shape has ",
          shape.size());
  return Eigen::Map<std::conditional_t<std::is_const_v<T>, const Matrix, Matrix>>(
      values.data(), static_cast<Eigen::Index>(shape.rows()), static_cast<Eigen::Index>(shape.cols()));
}

// The parameters called `tensor`.
template <class Loop>
auto as_eigen(Loop& loop, const std::string& tensor) {
  static_assert(Loop::Backend::on_host, "algoperf: as_eigen is of memory on the host: read a device's first");
  return as_eigen(loop.values(tensor), loop.layout().spec(loop.layout().find(tensor)).shape);
}

}  // namespace algoperf
