// warn: reports what is probably a mistake but may be intended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "config.hpp"

namespace algoperf {

namespace detail {

// Writes a sentence unless it repeats the one before, as the runs of a sweep do.
inline void write_warning(const char* sentence) {
  static std::atomic<std::size_t> previous{0};
  const std::size_t hash = std::hash<std::string_view>{}(sentence);
  if (previous.exchange(hash) != hash) std::fprintf(stderr, "algoperf: warning: %s\n", sentence);
}

}  // namespace detail

// Receives each warning, a sentence without a line ending. By default, it is written to standard error. Replace the
// function to log warnings elsewhere, or to ignore them. It may be called from any thread and must not throw.
inline std::atomic<void (*)(const char* sentence)> on_warning{detail::write_warning};

inline void warn(const std::string& sentence) { on_warning.load()(sentence.c_str()); }

}  // namespace algoperf
