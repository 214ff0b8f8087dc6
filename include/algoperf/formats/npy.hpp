// NumPy's .npy format, one array per file, as xtensor arrays.
//
//   save_npy("weight.npy", as_xtensor(loop, "0.weight"));          any xtensor expression
//   const xt::xarray<float> x = load_npy<float>("theirs.npy");
//
// Elements are not cast: load_npy throws Error, naming the file, if the element type is not T. Booleans are read as
// std::uint8_t. Needs xtensor.
#pragma once

#include <string>

#include "../state/atomic_file.hpp"
#include "../state/read_file.hpp"
#include "concept.hpp"
#include "npy_bytes.hpp"
#include "xtensor.hpp"

namespace algoperf {

template <class Expression>
void save_npy(const std::string& path, const Expression& expression) {
  StateDict dict;
  set(dict, "array", expression);
  write_file(path, detail::npy_bytes(path, dict.arrays().front()));
}

template <class T>
xt::xarray<T> load_npy(const std::string& path) {
  StateDict dict;
  detail::read_npy(path, read_file(path), "array", dict);
  const std::string& type = dict.at("array").type;
  require(StateDict::holds<T>(type), path, ": holds ", type, ", expected ", StateDict::type_name<T>());
  return as_xtensor<T>(dict, "array");
}

}  // namespace algoperf
