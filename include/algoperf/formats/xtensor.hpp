// Tensors as xtensor arrays of the same shape. Of memory or a loop (on a host backend), as_xtensor returns a view,
// which is valid as long as the memory or the loop exists. Of a StateDict, it returns a copy; set() copies an
// expression into one.
//
//   xt::sum(as_xtensor(loop, "0.weight"), {1})
//   set(dict, "mean", xt::mean(x, {0}));           any expression, stored row-major
//   as_xtensor<float>(dict, "mean")
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>
#if __has_include(<xtensor/xadapt.hpp>)
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#else
#include <xtensor/containers/xadapt.hpp>  // since 0.26
#include <xtensor/containers/xarray.hpp>
#endif

#include "../core/error.hpp"
#include "../core/shape.hpp"
#include "../state/state_dict.hpp"

namespace algoperf {

// Returns a view of T or const T. Throws Error if the shape has a different number of elements.
template <class T>
auto as_xtensor(std::span<T> values, Shape shape) {
  require(values.size() == shape.size(), "as_xtensor: there are ", values.size(), " values, the shape has ",
          shape.size());
  return xt::adapt(values.data(), values.size(), xt::no_ownership(), detail::sides(shape));
}

// Returns a view of the parameters of `tensor`.
template <class Loop>
auto as_xtensor(Loop& loop, const std::string& tensor) {
  static_assert(Loop::Backend::on_host,
                "algoperf: as_xtensor needs memory on the host: copy a device's values to the host first");
  return as_xtensor(loop.values(tensor), loop.layout().spec(loop.layout().find(tensor)).shape);
}

// Returns a copy of the array `name`. Throws Error if there is no such array or its type is not T. Booleans are
// read as std::uint8_t.
template <class T>
xt::xarray<T> as_xtensor(const StateDict& dict, const std::string& name) {
  const StateDict::Array& found = dict.at<T>(name);
  auto array = xt::xarray<T, xt::layout_type::row_major>::from_shape(found.shape);
  if (!found.bytes.empty()) std::memcpy(array.data(), found.bytes.data(), found.bytes.size());
  return array;
}

// Stores the values of an expression in the dict; Booleans get the type "bool".
template <class Expression>
void set(StateDict& dict, const std::string& name, const xt::xexpression<Expression>& expression) {
  using T = typename Expression::value_type;
  const xt::xarray<T, xt::layout_type::row_major> array = expression.derived_cast();
  const std::vector<std::size_t> shape(array.shape().begin(), array.shape().end());
  if constexpr (std::is_same_v<T, bool>)
    dict.set_bytes(name, "bool", 1, shape, {array.begin(), array.end()});
  else
    dict.set(name, std::span<const T>(array.data(), array.size()), shape);
}

}  // namespace algoperf
