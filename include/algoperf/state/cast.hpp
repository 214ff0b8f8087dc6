// cast<T>(dict): a copy of a StateDict with floating-point arrays converted to T: float, double, float16 or bfloat16.
// For example, this loads 16-bit values into a loop of floats:
//
//   load_values(cast<float>(load_safetensors("theirs.safetensors")), loop);
//
// Other arrays, names, shapes and the order are unchanged. Conversion to a wider type is exact. Conversion to a
// narrower type rounds each value to the nearest, from double to 16 bits by way of float, and gives infinity if the
// value exceeds T's range.
#pragma once

#include <type_traits>
#include <vector>

#include "../core/half.hpp"
#include "state_dict.hpp"

namespace algoperf {

namespace detail {

// Converts the array to T if its type is From.
template <class T, class From>
void cast_from(const StateDict::Array& array, StateDict& dict) {
  if (array.type != StateDict::type_name<From>()) return;
  std::vector<T> values;
  values.reserve(array.size);
  for (const From x : dict.get<From>(array.name))
    if constexpr (std::is_arithmetic_v<T>)
      values.push_back(static_cast<T>(x));
    else
      values.push_back(T(static_cast<float>(x)));
  dict.set(array.name, values, array.shape);
}

}  // namespace detail

template <class T>
StateDict cast(const StateDict& dict) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, float16> ||
                    std::is_same_v<T, bfloat16>,
                "algoperf: cast<T>(dict) needs T to be float, double, float16 or bfloat16");
  StateDict to = dict;
  for (const StateDict::Array& array : dict.arrays()) {
    detail::cast_from<T, float>(array, to);
    detail::cast_from<T, double>(array, to);
    detail::cast_from<T, float16>(array, to);
    detail::cast_from<T, bfloat16>(array, to);
  }
  return to;
}

}  // namespace algoperf
