// File formats and views shared with other programs and libraries. Each header names the library that it needs;
// algoperf::formats links them all.
//
//   safetensors.hpp   save_safetensors(path, dict), load_safetensors(path)      nlohmann-json; PyTorch, JAX, ...
//   npy.hpp           save_npy(path, array), load_npy<T>(path)                  xtensor; NumPy
//   npz.hpp           save_npz(path, dict), load_npz(path)                      libzip; NumPy
//   event_file.hpp    EventFile(folder).scalar(tag, value, step)                none; TensorBoard
//   eigen.hpp         as_eigen(values, shape), as_eigen(loop, "0.weight")       Eigen; no copy
//   xtensor.hpp       as_xtensor(values, shape), as_xtensor(loop, "0.weight")   xtensor; no copy
//                     as_eigen<T>(dict, "x"), as_xtensor<T>(dict, "x"), set(dict, "x", expression)       copies
//
// A dict is a StateDict (state/state_dict.hpp): values_dict(loop) has the parameters, state_dict(rule_state) a rule's
// state, state_dict(loop) everything that a checkpoint has. A file is written completely or not at all. Memory use
// grows with the data read. When a compressed file expands beyond the size its header declares, no more than that size
// and a buffer are allocated. An invalid file is refused with an Error that names the file and the array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../state/state_dict.hpp"

namespace algoperf::detail {

// The name of an element type in each format; "" if the format does not have the type.
struct NumberType {
  const char* name;
  const char* safetensors;
  const char* numpy;  // without the byte-order character
  std::size_t bytes;
};

// complex64 and the 8-bit floats are stored as raw bytes: the library does not compute with them.
inline constexpr NumberType number_types[] = {{"float64", "F64", "f8", 8},
                                              {"float32", "F32", "f4", 4},
                                              {"float16", "F16", "f2", 2},
                                              {"bfloat16", "BF16", "", 2},
                                              {"int64", "I64", "i8", 8},
                                              {"int32", "I32", "i4", 4},
                                              {"int16", "I16", "i2", 2},
                                              {"int8", "I8", "i1", 1},
                                              {"uint64", "U64", "u8", 8},
                                              {"uint32", "U32", "u4", 4},
                                              {"uint16", "U16", "u2", 2},
                                              {"uint8", "U8", "u1", 1},
                                              {"bool", "BOOL", "b1", 1},
                                              {"complex64", "C64", "c8", 8},
                                              {"F8_E4M3", "F8_E4M3", "", 1},
                                              {"F8_E5M2", "F8_E5M2", "", 1},
                                              {"F8_E8M0", "F8_E8M0", "", 1},
                                              {"F8_E4M3FNUZ", "F8_E4M3FNUZ", "", 1},
                                              {"F8_E5M2FNUZ", "F8_E5M2FNUZ", "", 1}};

inline const NumberType* find_number_type(const char* NumberType::*format, const std::string& name) {
  for (const NumberType& type : number_types)
    if (!name.empty() && name == type.*format) return &type;
  return nullptr;
}

// Returns the number of elements of a shape, or a number above `most` if there are more than `most`.
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
