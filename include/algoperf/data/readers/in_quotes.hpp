// in_quotes: formats bytes of a file for an error message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "../../core/config.hpp"

namespace algoperf::detail {

// Returns the bytes in quotes, truncated after 40, with control characters replaced by question marks.
inline std::string in_quotes(std::string_view bytes) {
  constexpr std::size_t most = 40;
  std::string result = "\"";
  for (const char c : bytes.substr(0, most)) result += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return result + (bytes.size() > most ? "...\"" : "\"");
}

}  // namespace algoperf::detail
