// CsvRecords: reads comma-separated values (RFC 4180) one record at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/error.hpp"
#include "in_quotes.hpp"
#include "lines.hpp"

namespace algoperf::detail {

struct CsvField {
  std::string text;      // unquoted
  std::size_t line = 0;  // line on which the field begins, from 1
};

// Records end in LF or CR LF; the last may end without either, or in CR alone. Empty lines are skipped. A field in
// quotes may contain separators, line endings and doubled quotes. An unquoted field contains none of these, and keeps
// its surrounding blanks unless `trim`. A UTF-8 byte order mark is skipped. The text must outlive this object.
class CsvRecords {
 public:
  CsvRecords(const std::string& path, std::string_view text, char separator, bool trim)
      : path_(path), text_(without_mark(text)), separator_(separator), trim_(trim) {
    require(separator != '"' && separator != '\n' && separator != '\r', "load_csv: the separator is ",
            in_quotes({&separator, 1}), ", expected neither a quote nor a line ending");
  }

  // Writes the next record over `fields`; returns false if there is none. Throws Error with path:line and the number of
  // the field, from 1.
  bool next(std::vector<CsvField>& fields) {
    while (line_end()) {
    }
    if (at_ == text_.size()) return false;
    line_of_record_ = line_;
    std::size_t n = 0;
    for (bool more = true; more; ++n) {
      if (n == fields.size()) fields.emplace_back();
      more = read(fields[n], n + 1);
    }
    fields.resize(n);
    return true;
  }
  // Returns the line on which the last record returned by next() begins.
  std::size_t line() const { return line_of_record_; }

 private:
  static bool blank(char c) { return c == ' ' || c == '\t'; }

  // Skips one line ending, if there is one at the current position.
  bool line_end() {
    const std::string_view two = text_.substr(at_, 2);
    const std::size_t size = two.substr(0, 1) == "\n" || two == "\r" ? 1 : two == "\r\n" ? 2 : 0;
    at_ += size;
    line_ += size > 0;
    return size > 0;
  }
  void skip_blanks() {
    while (trim_ && at_ < text_.size() && blank(text_[at_]) && text_[at_] != separator_) ++at_;
  }

  // Reads one field and its terminator; returns whether another field follows in the record.
  bool read(CsvField& field, std::size_t number) {
    skip_blanks();
    field.text.clear();
    field.line = line_;
    if (at_ < text_.size() && text_[at_] == '"') {
      read_quoted(field, number);
      skip_blanks();
    } else {
      read_plain(field, number);
    }
    if (at_ == text_.size() || line_end()) return false;
    require(text_[at_] == separator_, path_, ":", line_, ": field ", number, " continues with ",
            in_quotes(text_.substr(at_, 1)), " after its closing quote, expected a separator or the end of the line");
    ++at_;
    return true;
  }

  void read_plain(CsvField& field, std::size_t number) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n') {
      require(
          text_[at_] != '"', path_, ":", line_, ": field ", number,
          " contains a quote but does not begin with one, expected the whole field in quotes and inner quotes doubled");
      ++at_;
    }
    const bool line_ends = at_ == text_.size() || text_[at_] == '\n';
    if (line_ends && at_ > begin && text_[at_ - 1] == '\r') --at_;
    std::size_t end = at_;
    while (trim_ && end > begin && blank(text_[end - 1])) --end;
    field.text = text_.substr(begin, end - begin);
  }

  void read_quoted(CsvField& field, std::size_t number) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"' && text_.substr(at_ + 1, 1) != "\"") {
        ++at_;
        return;
      }
      at_ += text_[at_] == '"';
      line_ += text_[at_] == '\n';
      field.text += text_[at_];
    }
    fail(path_, ":", field.line, ": the quote that opens field ", number, " is never closed");
  }

  const std::string& path_;
  std::string_view text_;
  char separator_;
  bool trim_;
  std::size_t at_ = 0, line_ = 1, line_of_record_ = 0;
};

}  // namespace algoperf::detail
