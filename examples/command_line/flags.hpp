// Ranges of options of the command line. CLI11 would accept -1 for an unsigned number, which wraps around, and nan for
// any real number.
#pragma once

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace flags {

// A whole number in [least, most], in decimal digits.
inline CLI::Validator whole(std::uint64_t least, std::uint64_t most) {
  const std::string range = "[" + std::to_string(least) + ", " + std::to_string(most) + "]";
  return {[=](std::string& text) -> std::string {
            errno = 0;
            const std::uint64_t value = std::strtoull(text.c_str(), nullptr, 10);
            const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            if (digits && errno == 0 && value >= least && value <= most) return {};
            return "is '" + text + "', expected a whole number in " + range;
          },
          "in " + range};
}

// A finite real number of at least `least` and at most `most`, or strictly more than `least`.
inline CLI::Validator real(double least, double most, bool more_than_least = false) {
  const std::string range =
      (more_than_least ? "(" : "[") + CLI::detail::to_string(least) + ", " + CLI::detail::to_string(most) + "]";
  return {[=](std::string& text) -> std::string {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool whole_text = !text.empty() && *end == 0;
            if (whole_text && (more_than_least ? value > least : value >= least) && value <= most) return {};
            return "is '" + text + "', expected a number in " + range;
          },
          "in " + range};
}
inline CLI::Validator positive() { return real(0, 1e300, true); }

}  // namespace flags
