// Error: the library's exception type. The message names the place (file, field, tensor, step), what was found and what
// was expected.
#pragma once

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "element_count.hpp"
#include "require.hpp"

namespace algoperf {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Thrown if the host or a device has too little memory for an allocation.
struct OutOfMemory : Error {
  using Error::Error;
};

namespace detail {

inline std::string text(const std::string& s) { return s; }
inline std::string text(const char* s) { return s; }
inline std::string text(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.6g", x);
  return buffer;
}
template <class T>
requires std::is_integral_v<T> std::string text(T x) { return std::to_string(x); }

}  // namespace detail

template <class E, class... Parts>
[[noreturn]] void fail_as(const Parts&... parts) {
  std::string message;
  ((message += detail::text(parts)), ...);
  throw E(message);
}

// Throws OutOfMemory after an allocation of `size` elements of `bytes` bytes each failed.
[[noreturn]] inline void fail_to_allocate(std::size_t size, std::size_t bytes) {
  fail_as<OutOfMemory>("there is too little memory for ", size, size < max_elements ? "" : " or more", " elements of ",
                       bytes, " bytes");
}

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  fail_as<Error>(parts...);
}

template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

}  // namespace algoperf
