// Lines: a text cut into lines, which know their number.
#pragma once

#include <cstddef>
#include <string_view>

#include "../../core/config.hpp"

namespace algoperf::detail {

// A byte order mark of UTF-8 is no text.
inline std::string_view without_mark(std::string_view text) {
  return text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
}

// Lines end in LF or CR LF; the last may go without. The text must outlive this.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(without_mark(text)) {}

  // The next line, without its end; false when there is none.
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    ++number_;
    return true;
  }
  // Of the line that next() gave last, from 1; 0 before the first.
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

}  // namespace algoperf::detail
