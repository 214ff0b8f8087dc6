// CsvRows: reads the rows of a CSV file by the names of its columns. Link with zlib.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../../core/error.hpp"
#include "../../data/readers/csv_records.hpp"
#include "../../data/readers/gz_file.hpp"
#include "../../data/readers/in_quotes.hpp"

namespace algoperf::detail {

// Every error names file, line and column.
class CsvRows {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  explicit CsvRows(const std::string& path)
      : file_(read_unpacked(path)), records_(file_.path, file_.bytes, ',', false) {
    std::vector<CsvField> header;
    require(records_.next(header), file_.path, ": is empty, expected a header line");
    for (const CsvField& field : header) {
      require(find(field.text) == none, file_.path, ":", field.line, ": two columns are named ", in_quotes(field.text));
      names_.push_back(field.text);
    }
  }
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  const std::string& path() const { return file_.path; }
  const std::vector<std::string>& names() const { return names_; }
  // Returns the index of a column, or `none`.
  std::size_t find(const std::string& name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? none : static_cast<std::size_t>(found - names_.begin());
  }
  std::size_t column(const std::string& name) const {
    const std::size_t found = find(name);
    require(found != none, file_.path, ":1: there is no column ", in_quotes(name));
    return found;
  }

  // Advances to the next row; returns false if there is none.
  bool next() {
    if (!records_.next(fields_)) return false;
    require(fields_.size() == names_.size(), here(), ": there are ", fields_.size(), " fields, expected ",
            names_.size(), " as in the header");
    return true;
  }
  // Returns "path:line" of the current row.
  std::string here() const { return file_.path + ":" + std::to_string(records_.line()); }

  const std::string& text(std::size_t column) const { return fields_[column].text; }
  // A real number, an infinity or NaN.
  double number(std::size_t column) const {
    double value = 0;
    if (!parse(text(column), value)) refuse(column, "a number");
    return value;
  }
  // A finite number of at least 0.
  double measure(std::size_t column) const {
    const double value = number(column);
    if (!(value >= 0 && value <= __DBL_MAX__)) refuse(column, "a finite number of at least 0");
    return value;
  }
  std::uint64_t whole(std::size_t column) const {
    std::uint64_t value = 0;
    if (!parse(text(column), value)) refuse(column, "a whole number");
    return value;
  }
  const std::string& name(std::size_t column) const {
    if (text(column).empty()) refuse(column, "a name");
    return text(column);
  }
  // Throws the Error that the field of a column is not what was expected.
  [[noreturn]] void refuse(std::size_t column, const std::string& expected) const {
    fail(file_.path, ":", fields_[column].line, ": column ", in_quotes(names_[column]), " is ", in_quotes(text(column)),
         ", expected ", expected);
  }

 private:
  template <class T>
  static bool parse(std::string_view text, T& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
  }

  Unpacked file_;
  CsvRecords records_;
  std::vector<std::string> names_;
  std::vector<CsvField> fields_;
};

}  // namespace algoperf::detail
