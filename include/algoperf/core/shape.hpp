// Shape: the extents of a tensor, row-major, rank 0 to 4, usable in constant expressions.
#pragma once

#include <concepts>
#include <cstddef>

#include "element_count.hpp"
#include "require.hpp"

namespace algoperf {

struct Shape {
  static constexpr std::size_t max_rank = 4;
  std::size_t extents[max_rank] = {};
  std::size_t rank = 0;

  constexpr Shape() = default;
  // Throws Error if an extent is negative.
  template <std::integral... Extents>
  requires(sizeof...(Extents) >= 1 && sizeof...(Extents) <= max_rank) constexpr Shape(Extents... e)
      : extents{extent(e)...}, rank(sizeof...(Extents)) {}

  constexpr std::size_t operator[](std::size_t axis) const { return extents[axis]; }
  // Returns the number of elements; max_elements (core/element_count.hpp) stands for any larger number.
  constexpr std::size_t size() const {
    std::size_t n = 1;
    for (std::size_t i = 0; i < rank; ++i) n = element_count(n, extents[i]);
    return n;
  }
  // The extents of the tensor as a matrix: the first extent, and the product of all others. Matrix rules (Muon,
  // Shampoo) use this view.
  constexpr std::size_t rows() const { return rank == 0 ? 1 : extents[0]; }
  constexpr std::size_t cols() const { return rows() == 0 ? 0 : size() / rows(); }
  friend constexpr bool operator==(const Shape&, const Shape&) = default;

 private:
  template <std::integral E>
  static constexpr std::size_t extent(E e) {
    if constexpr (std::is_signed_v<E>)
      if (e < 0) require(false, "Shape: an extent is ", e, ", expected at least 0");
    return static_cast<std::size_t>(e);
  }
};

}  // namespace algoperf
