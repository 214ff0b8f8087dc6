// element_count: products of sizes that cannot wrap around.
#pragma once

#include <cstddef>

#include "config.hpp"

namespace algoperf {

// No tensor or arena has this many elements: it is more than the address space of today's processors holds.
inline constexpr std::size_t max_elements = std::size_t{1} << 48;

// Returns the product of sizes; max_elements stands for any larger product. Layouts and arenas refuse max_elements, so
// a product that does not fit in 64 bits becomes an Error, not a small allocation.
constexpr std::size_t element_count(std::size_t a, std::size_t b) {
  const bool small = ((a | b) >> 24) == 0;  // the usual case, which needs no division
  if (small || a == 0 || b == 0) return a * b;
  return a > max_elements / b ? max_elements : a * b;
}
template <class... More>
constexpr std::size_t element_count(std::size_t a, std::size_t b, More... more) {
  return element_count(element_count(a, b), more...);
}

}  // namespace algoperf
