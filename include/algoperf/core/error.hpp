// Error: the library's exception type. The message names the place (file, field, tensor, step), what was found and what
// was expected.
#pragma once

#include <cstddef>
#include <cstdio>
#include <initializer_list>
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

// A string or a number in a message. Messages are composed at run time from a list of these, in one function, because a
// function for each combination of types would be slow to compile.
class MessagePart {
 public:
  MessagePart(const std::string& s) : kind_(Kind::string), length_(s.size()), string_(s.data()) {}
  MessagePart(const char* s) : kind_(Kind::string), length_(__builtin_strlen(s)), string_(s) {}
  MessagePart(double x) : kind_(Kind::real), real_(x) {}
  template <class T>
  requires std::is_integral_v<T> MessagePart(T x) : kind_(Kind::whole), whole_(static_cast<unsigned long long>(x)) {
    if constexpr (std::is_signed_v<T>) negative_ = x < 0;
    if (negative_) whole_ = 0 - whole_;
  }

  void append_to(std::string& message) const;

 private:
  enum class Kind { string, real, whole } kind_;
  bool negative_ = false;
  std::size_t length_ = 0;
  union {
    const char* string_;
    double real_;
    unsigned long long whole_;  // the absolute value
  };
};

std::string message_of(std::initializer_list<MessagePart> parts);
[[noreturn]] void throw_error(std::initializer_list<MessagePart> parts);

}  // namespace detail

template <class E, class... Parts>
[[noreturn]] ALGOPERF_COLD void fail_as(const Parts&... parts) {
  throw E(detail::message_of({parts...}));
}

// Throws OutOfMemory after an allocation of `size` elements of `bytes` bytes each failed.
[[noreturn]] void fail_to_allocate(std::size_t size, std::size_t bytes);

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  detail::throw_error({parts...});
}

template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD void detail::MessagePart::append_to(std::string& message) const {
  if (kind_ == Kind::string)
    message.append(string_, length_);
  else if (kind_ == Kind::real)
    message += text(real_);
  else
    (message += negative_ ? "-" : "") += std::to_string(whole_);
}

ALGOPERF_COMPILED ALGOPERF_COLD std::string detail::message_of(std::initializer_list<MessagePart> parts) {
  std::string message;
  for (const MessagePart& part : parts) part.append_to(message);
  return message;
}

[[noreturn]] ALGOPERF_COMPILED ALGOPERF_COLD void detail::throw_error(std::initializer_list<MessagePart> parts) {
  throw Error(message_of(parts));
}

[[noreturn]] ALGOPERF_COMPILED ALGOPERF_COLD void fail_to_allocate(std::size_t size, std::size_t bytes) {
  fail_as<OutOfMemory>("there is too little memory for ", size, size < max_elements ? "" : " or more", " elements of ",
                       bytes, " bytes");
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf
