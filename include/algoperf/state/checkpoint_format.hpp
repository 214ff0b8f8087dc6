// The file format of checkpoints. Format 2, little-endian: "ALGOPERF", u32 version; sections {u32 name length, name,
// u64 bytes, entries}, each entry {u32 name length, name, u8 type, u64 count, values}; an end mark, which is a section
// with an empty name and nothing else; the FNV-1a 64 checksum of everything before it. Types: 1 u8, 2 i32, 3 u32, 4
// i64, 5 u64, 6 f32, 7 f64. The section "state" holds the state of training.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "../core/config.hpp"

namespace algoperf {

static_assert(std::endian::native == std::endian::little, "algoperf: checkpoints are little-endian");

namespace detail {

inline constexpr const char* state_section = "state";
// Scopes within that section: for a loop's parameters, and for the parameters used in evaluation if those differ.
inline constexpr const char* values_scope = "values";
inline constexpr const char* evaluation_values_scope = "evaluation_values";
inline constexpr char checkpoint_magic[8] = {'A', 'L', 'G', 'O', 'P', 'E', 'R', 'F'};
inline constexpr std::uint32_t checkpoint_version = 2;

template <class T>
constexpr std::uint8_t type_code() {
  if constexpr (std::is_same_v<T, float>)
    return 6;
  else if constexpr (std::is_same_v<T, double>)
    return 7;
  else if constexpr (sizeof(T) == 1)
    return 1;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? 2 : 3;
  else
    return std::is_signed_v<T> ? 4 : 5;
}

// Returns the size of one value in bytes; 0 for an unknown type code.
constexpr std::size_t size_of_type(std::uint8_t code) {
  constexpr std::size_t sizes[] = {0, 1, 4, 4, 8, 8, 4, 8};
  return code < sizeof sizes / sizeof *sizes ? sizes[code] : 0;
}

inline std::uint64_t fnv1a(const std::string& bytes, std::size_t n) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (std::size_t i = 0; i < n; ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001B3u;
  return hash;
}

}  // namespace detail
}  // namespace algoperf
