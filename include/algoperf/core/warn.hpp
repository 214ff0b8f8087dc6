// warn: reports what is probably a mistake but may be intended.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "config.hpp"

namespace algoperf {

// Receives each warning, a sentence without a line ending. It may be called from any thread and must not throw.
using WarningHandler = void (*)(const char* sentence);

namespace detail {

// Writes a sentence unless it repeats the one before, as the runs of a sweep do.
inline void write_warning(const char* sentence) {
  static std::size_t previous = 0;
  const std::size_t hash = std::hash<std::string_view>{}(sentence);
  if (__atomic_exchange_n(&previous, hash, __ATOMIC_RELAXED) != hash)
    std::fprintf(stderr, "algoperf: warning: %s\n", sentence);
}
inline WarningHandler warning_handler = write_warning;

}  // namespace detail

// Replaces the function that receives warnings, e.g. to log them elsewhere or to ignore them, and returns the one
// before. By default, or if the handler is null, warnings are written to standard error.
inline WarningHandler on_warning(WarningHandler handler) {
  return __atomic_exchange_n(&detail::warning_handler, handler != nullptr ? handler : detail::write_warning,
                             __ATOMIC_ACQ_REL);
}

inline void warn(const std::string& sentence) {
  __atomic_load_n(&detail::warning_handler, __ATOMIC_ACQUIRE)(sentence.c_str());
}

}  // namespace algoperf
