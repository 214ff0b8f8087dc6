// What formats/ is about: files and views that other programs and libraries share. Each header names what it needs
// beside the library; algoperf::formats links it all.
//
//   safetensors.hpp   save_safetensors(path, dict), load_safetensors(path)      nlohmann-json; PyTorch, JAX, ...
//   npy.hpp           save_npy(path, array), load_npy<T>(path)                  xtensor; NumPy
//   npz.hpp           save_npz(path, dict), load_npz(path)                      libzip; NumPy
//   eigen.hpp         as_eigen(values, shape), as_eigen(loop, "0.weight")       Eigen; no copy
//   xtensor.hpp       as_xtensor(values, shape), as_xtensor(loop, "0.weight")   xtensor; no copy
//
// A dict is a StateDict (core/state_dict.hpp): values_dict(loop) has the parameters, state_dict(rule_state, layout) a
// rule's state. Files are written whole or not at all; what is read is held against the file's size before memory is
// taken, and refused by a sentence that names the file and the array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../core/state_dict.hpp"

namespace algoperf::detail {

// One type of number as each format calls it; "" where a format has none.
struct NumberType {
  const char* name;
  const char* safetensors;
  const char* numpy;  // without the sign of byte order
  std::size_t bytes;
};

inline constexpr NumberType number_types[] = {
    {"float64", "F64", "f8", 8}, {"float32", "F32", "f4", 4}, {"float16", "F16", "f2", 2}, {"bfloat16", "BF16", "", 2},
    {"int64", "I64", "i8", 8},   {"int32", "I32", "i4", 4},   {"int16", "I16", "i2", 2},   {"int8", "I8", "i1", 1},
    {"uint64", "U64", "u8", 8},  {"uint32", "U32", "u4", 4},  {"uint16", "U16", "u2", 2},  {"uint8", "U8", "u1", 1},
    {"bool", "BOOL", "b1", 1}};

inline const NumberType* find_number_type(const char* NumberType::*format, const std::string& name) {
  for (const NumberType& type : number_types)
    if (!name.empty() && name == type.*format) return &type;
  return nullptr;
}

// How many elements a shape has, or more than `most` if that is more.
inline std::size_t elements_within(const std::vector<std::size_t>& shape, std::size_t most) {
  for (const std::size_t side : shape)
    if (side == 0) return 0;
  std::size_t elements = 1;
  for (const std::size_t side : shape) {
    if (side > most / elements) return most + 1;
    elements *= side;
  }
  return elements;
}

}  // namespace algoperf::detail
