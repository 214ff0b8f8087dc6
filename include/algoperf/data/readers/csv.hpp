// CSV: reads a file of comma-separated values (RFC 4180), plain or gzipped, into a Table. Link with zlib.
//
// A column is numeric if all its fields are numbers; otherwise its fields are categories. An empty field is not a
// number but a category like any other, so one empty field makes a column of numbers categorical. List such a column in
// CsvOptions::numeric to get an Error with the position of the field instead. The label's fields are categories unless
// the label is listed there. A number is a decimal within the range of float, such as "-1.5" or "2e3": no blanks, no
// "+", no "nan".
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "csv_records.hpp"
#include "gz_file.hpp"
#include "in_quotes.hpp"
#include "table.hpp"

namespace algoperf {

struct CsvOptions {
  // The label column; "" for none. Its fields are categories (the classes), or real values to be predicted if the
  // column is also listed in `numeric`.
  std::string label = "";
  std::vector<std::string> categorical = {};  // columns treated as categories even if all their fields are numbers
  std::vector<std::string> numeric = {};      // columns whose fields must be numbers; any other field is an Error
  std::vector<std::string> without = {};      // columns to leave out
  std::vector<std::string> only = {};         // if not empty, only these columns and the label are kept
  // Scales each numeric column to mean 0 and standard deviation 1 over the rows of this file; a column with deviation 0
  // is only shifted.
  bool standardise = false;
  std::size_t max_categories = 1000;  // maximum per column, because each becomes one input; more are an Error
  char separator = ',';
  bool trim = false;                            // drop spaces and tabs around fields
  std::vector<std::string> names = {};          // column names, for a file without a header line
  bool unseen_as_zeros = false;                 // load_csv(path, like) accepts categories that `like` does not have
  std::uint64_t limit = GzFile::default_limit;  // maximum size of the file in bytes, decompressed
};

namespace detail {

inline bool parse_number(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() &&
         std::abs(number) <= std::numeric_limits<float>::max();
}

// Returns the end of the error message for a field that parse_number rejects.
inline const char* expected_number(std::string_view text) {
  double number = 0;  // stays 0 beyond double's range
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool too_far = error != std::errc::invalid_argument && end == text.data() + text.size();
  return too_far && std::isfinite(number) ? ", expected a number within the range of float" : ", expected a number";
}

// A file's records and the names of its columns.
class CsvFile {
 public:
  CsvFile(const std::string& path, const CsvOptions& options)
      : options_(options), file_(read_unpacked(path, options.limit)), names_(options.names) {
    CsvRecords records = open();
    if (names_.empty()) {
      std::vector<CsvField> header;
      require(records.next(header), this->path(), ": is empty, expected a header line");
      header_line_ = records.line();
      for (const CsvField& field : header) names_.push_back(field.text);
    }
    for (std::size_t c = 0; c < names_.size(); ++c) {
      const auto [found, fresh] = places_.emplace(names_[c], c);
      if (!fresh)
        fail(header_place(), ": columns ", found->second + 1, " and ", c + 1, " are both named ", in_quotes(names_[c]));
    }
  }

  const std::string& path() const { return file_.path; }
  const std::vector<std::string>& names() const { return names_; }

  // Throws Error if there is no such column.
  std::size_t find(const std::string& name) const {
    const auto found = places_.find(name);
    if (found != places_.end()) return found->second;
    constexpr std::size_t most = 20;
    std::string all;
    for (std::size_t c = 0; c < names_.size() && c < most; ++c) all += (c == 0 ? "" : ", ") + in_quotes(names_[c]);
    fail(header_place(), ": there is no column ", in_quotes(name), ", only ", all, names_.size() > most ? ", ..." : "");
  }

  // Calls visit(fields) for each record after the header.
  template <class Visit>
  void each(const Visit& visit) const {
    CsvRecords records = open();
    std::vector<CsvField> fields;
    if (header_line_ > 0) records.next(fields);
    std::size_t rows = 0;
    for (; records.next(fields); ++rows) {
      require(fields.size() == names_.size(), path(), ":", records.line(), ": there are ", fields.size(),
              " fields, expected ", names_.size(), header_line_ > 0 ? " as in the header" : " as in CsvOptions::names");
      visit(fields);
    }
    require(rows > 0, path(), ": there are no rows", header_line_ > 0 ? " after the header" : "");
  }

  // Returns "path:line: column name is text", the start of an error message.
  std::string place(const CsvField& field, const std::string& name) const {
    return path() + ":" + std::to_string(field.line) + ": column " + in_quotes(name) + " is " + in_quotes(field.text);
  }

 private:
  CsvRecords open() const { return CsvRecords(file_.path, file_.bytes, options_.separator, options_.trim); }
  std::string header_place() const {
    return header_line_ > 0 ? path() + ":" + std::to_string(header_line_) : path() + " with CsvOptions::names";
  }

  const CsvOptions& options_;
  Unpacked file_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> places_;  // column index by name
  std::size_t header_line_ = 0;                // 0: the file has no header
};

// Determines the type and the categories of each column in one pass over all fields.
class CsvColumns {
 public:
  CsvColumns(const CsvFile& file, const CsvOptions& options) : file_(file), options_(options) {
    for (const auto* list : {&options.categorical, &options.numeric, &options.without, &options.only})
      for (const std::string& name : *list) file.find(name);
    if (!options.label.empty()) file.find(options.label);
    for (const std::string& name : file.names()) {
      if (listed(options.without, name)) continue;
      if (!options.only.empty() && !listed(options.only, name) && name != options.label) continue;
      const bool numeric = listed(options.numeric, name), categories = listed(options.categorical, name);
      require(!categories || !numeric, file.path(), ": column ", in_quotes(name),
              " is listed in both CsvOptions::numeric and CsvOptions::categorical");
      const bool categorical = categories || (name == options.label && !numeric);
      seen_.push_back({file.find(name), {name, !categorical}, {}, {}});
    }
    require(!seen_.empty(), file.path(), ": no column is left");
    require(options.label.empty() || !listed(options.without, options.label), file.path(), ": the label column ",
            in_quotes(options.label), " is listed in CsvOptions::without");
  }

  std::vector<Column> learn() {
    file_.each([&](const std::vector<CsvField>& fields) {
      for (Seen& seen : seen_) look(seen, fields[seen.place]);
    });
    std::vector<Column> columns;
    for (Seen& seen : seen_) {
      if (!seen.column.numeric) {
        require(seen.too_many.empty(), seen.too_many, ", which exceeds the limit of ", options_.max_categories,
                seen.column.name == options_.label
                    ? " categories; list the label in CsvOptions::numeric if it is a number to be predicted"
                    : " categories; list the column in CsvOptions::numeric if it holds numbers");
        seen.column.categories = sorted(seen.distinct);
      }
      columns.push_back(std::move(seen.column));
    }
    return columns;
  }

 private:
  struct Seen {
    std::size_t place;  // index among the file's columns
    Column column;
    std::map<std::string, bool> distinct;  // fields, and whether each is a number; at most max_categories
    std::string too_many;                  // position of the first field beyond max_categories
  };

  static bool listed(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  void look(Seen& seen, const CsvField& field) const {
    double unused;
    const bool number = parse_number(field.text, unused);
    if (!number && listed(options_.numeric, seen.column.name))
      fail(file_.place(field, seen.column.name), expected_number(field.text));
    seen.column.numeric = seen.column.numeric && number;
    if (!seen.too_many.empty() || seen.distinct.contains(field.text)) return;
    if (seen.distinct.size() < options_.max_categories)
      seen.distinct.emplace(field.text, number);
    else
      seen.too_many = file_.place(field, seen.column.name);
  }

  static std::vector<std::string> sorted(const std::map<std::string, bool>& distinct) {
    std::vector<std::string> categories;
    bool numbers = true;
    for (const auto& [category, number] : distinct) {
      categories.push_back(category);
      numbers = numbers && number;
    }
    const auto value = [](const std::string& text) {
      double number = 0;
      parse_number(text, number);
      return number;
    };
    if (numbers)
      std::stable_sort(categories.begin(), categories.end(),
                       [&](const std::string& a, const std::string& b) { return value(a) < value(b); });
    return categories;
  }

  const CsvFile& file_;
  const CsvOptions& options_;
  std::vector<Seen> seen_;
};

// Returns rows x columns values: numbers, and indices of categories. If `known`, every category must be one of its
// column's; otherwise an unknown category (except the label's) gets the index after the last one.
inline std::vector<double> csv_values(const CsvFile& file, const std::vector<Column>& columns, std::size_t label,
                                      bool known) {
  std::vector<std::size_t> places;
  std::vector<std::map<std::string_view, double>> codes(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    places.push_back(file.find(columns[c].name));
    for (std::size_t i = 0; i < columns[c].categories.size(); ++i)
      codes[c].emplace(columns[c].categories[i], static_cast<double>(i));
  }
  std::vector<double> values;
  file.each([&](const std::vector<CsvField>& fields) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const CsvField& field = fields[places[c]];
      double value = 0;
      if (columns[c].numeric) {
        if (!parse_number(field.text, value)) fail(file.place(field, columns[c].name), expected_number(field.text));
      } else {
        const auto found = codes[c].find(field.text);
        if (found == codes[c].end() && (known || c == label))
          fail(file.place(field, columns[c].name), ", which is not one of its ", columns[c].categories.size(),
               " categories");
        value = found != codes[c].end() ? found->second : static_cast<double>(columns[c].categories.size());
      }
      values.push_back(value);
    }
  });
  return values;
}

// Sets the mean and the deviation of numeric columns over the rows (divisor: the number of rows). Sums differences from
// the first row, so that the deviation of equal numbers is exactly 0, without rounding error.
inline void standardise(std::vector<Column>& columns, const std::vector<double>& values) {
  const std::size_t width = columns.size();
  const double rows = static_cast<double>(values.size() / width);
  for (std::size_t c = 0; c < width; ++c) {
    if (!columns[c].numeric) continue;
    double sum = 0, squares = 0;
    for (std::size_t i = c; i < values.size(); i += width) sum += values[i] - values[c];
    const double mean = values[c] + sum / rows;
    for (std::size_t i = c; i < values.size(); i += width) squares += (values[i] - mean) * (values[i] - mean);
    columns[c].mean = mean;
    columns[c].deviation = squares > 0 ? std::sqrt(squares / rows) : 1;
  }
}

}  // namespace detail

// Reads `path`, or `path`.gz if `path` does not exist. Throws Error with path:line and the column if a record has more
// or fewer fields than the header, a quote is never closed or appears within an unquoted field, two columns have the
// same name, a named column does not exist, the file is empty, or there are no rows.
inline Table load_csv(const std::string& path, const CsvOptions& options = {}) {
  const detail::CsvFile file(path, options);
  std::vector<Column> columns = detail::CsvColumns(file, options).learn();
  std::size_t label = 0;
  while (label < columns.size() && (options.label.empty() || columns[label].name != options.label)) ++label;
  std::vector<double> values = detail::csv_values(file, columns, label, true);
  if (options.standardise) detail::standardise(columns, values);
  return Table(std::move(columns), label, std::move(values), file.path());
}

// Reads another file, such as a test split, with the encoding of `like`: the same columns, categories, means and
// deviations. Columns are found by name, in any order; other columns are ignored. If the file lacks the label column,
// the table has no label and serves prediction; if it has one, its fields are read. Of the options, only separator,
// trim, names, limit and unseen_as_zeros are used. Throws Error as above, and if a field of a numeric column is not a
// number or a category is unknown to `like`. With unseen_as_zeros, only an unknown category of the label is an Error;
// an unknown category of another column sets all inputs of that column to 0.
inline Table load_csv(const std::string& path, const Table& like, const CsvOptions& options = {}) {
  const detail::CsvFile file(path, options);
  std::vector<Column> columns = like.columns();
  std::size_t label = like.label_column();
  if (label < columns.size() &&
      std::find(file.names().begin(), file.names().end(), columns[label].name) == file.names().end()) {
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(label));
    label = columns.size();
  }
  std::vector<double> values = detail::csv_values(file, columns, label, !options.unseen_as_zeros);
  return Table(std::move(columns), label, std::move(values), file.path());
}

}  // namespace algoperf
