// Lines: iterates over the lines of a text and counts them.
#pragma once

#include <cstddef>
#include <string_view>

#include "../../core/config.hpp"

namespace algoperf::detail {

// Removes a leading UTF-8 byte order mark.
inline std::string_view without_mark(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
}

// Lines end in LF or CR LF; the last may end without either. The text must outlive this object.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(without_mark(text)) {}

  // Sets `line` to the next line without its ending; returns false if there is none.
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    ++number_;
    return true;
  }
  // Number of the line last returned by next(), from 1; 0 before the first.
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

}  // namespace algoperf::detail
