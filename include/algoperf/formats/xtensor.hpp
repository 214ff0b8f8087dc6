// Tensors as xtensor's arrays, without a copy, in their own shape. They last as long as the memory does; of a loop,
// which must work on the host, as long as it.
//
//   xt::sum(as_xtensor(loop, "0.weight"), {1})
#pragma once

#include <span>
#include <string>
#if __has_include(<xtensor/xadapt.hpp>)
#include <xtensor/xadapt.hpp>
#else
#include <xtensor/containers/xadapt.hpp>  // since 0.26
#endif

#include "../core/error.hpp"
#include "../core/shape.hpp"
#include "../core/state_dict.hpp"

namespace algoperf {

// Of T or const T. Throws Error where the shape has another number of elements.
template <class T>
auto as_xtensor(std::span<T> values, Shape shape) {
  require(values.size() == shape.size(), "as_xtensor: there are ", values.size(), " values, the shape has ",
          shape.size());
  return xt::adapt(values.data(), values.size(), xt::no_ownership(), detail::sides(shape));
}

// The parameters called `tensor`.
template <class Loop>
auto as_xtensor(Loop& loop, const std::string& tensor) {
  static_assert(Loop::Backend::on_host, "algoperf: as_xtensor is of memory on the host: read a device's first");
  return as_xtensor(loop.values(tensor), loop.layout().spec(loop.layout().find(tensor)).shape);
}

}  // namespace algoperf
