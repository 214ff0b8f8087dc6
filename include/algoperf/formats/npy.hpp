// NumPy's .npy, one array a file, as xtensor's arrays.
//
//   save_npy("weight.npy", as_xtensor(loop, "0.weight"));          any xtensor expression
//   const xt::xarray<float> x = load_npy<float>("theirs.npy");
//
// No number is cast: Error names the file where it holds another type than T. Needs xtensor.
#pragma once

#include <span>
#include <string>
#if __has_include(<xtensor/xarray.hpp>)
#include <xtensor/xarray.hpp>
#else
#include <xtensor/containers/xarray.hpp>  // since 0.26
#endif

#include "../core/atomic_file.hpp"
#include "../core/read_file.hpp"
#include "concept.hpp"
#include "npy_bytes.hpp"

namespace algoperf {

template <class Expression>
void save_npy(const std::string& path, const Expression& expression) {
  using T = typename Expression::value_type;
  const xt::xarray<T, xt::layout_type::row_major> array = expression;
  StateDict dict;
  dict.set("array", std::span<const T>(array.data(), array.size()), {array.shape().begin(), array.shape().end()});
  AtomicFile file(path);
  file.write(detail::npy_bytes(path, dict.arrays().front()));
  file.commit();
}

template <class T>
xt::xarray<T> load_npy(const std::string& path) {
  StateDict dict;
  detail::read_npy(path, read_file(path), "array", dict);
  const StateDict::Array& read = dict.arrays().front();
  require(read.type == StateDict::type_name<T>(), path, ": holds ", read.type, ", expected ",
          StateDict::type_name<T>());
  xt::xarray<T> array = xt::xarray<T>::from_shape(read.shape);
  if (!read.bytes.empty()) std::memcpy(array.data(), read.bytes.data(), read.bytes.size());
  return array;
}

}  // namespace algoperf
