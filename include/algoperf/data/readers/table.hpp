// Table: rows of named columns, each of numbers or of categories, and the examples that a model sees of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/shape.hpp"
#include "../in_memory.hpp"
#include "../in_memory_regression.hpp"

namespace algoperf {

// What a column is, and how it is encoded; its values are the table's.
struct Column {
  std::string name;
  bool numeric = true;
  // Of a column that is not numeric: sorted, by value if all of them are numbers, else by bytes.
  std::vector<std::string> categories = {};
  // Of a numeric one: a number becomes (number - mean) / deviation.
  double mean = 0, deviation = 1;

  // Inputs of an example it becomes.
  std::size_t width() const { return numeric ? 1 : categories.size(); }
};

class Table {
 public:
  // Values are rows x columns: a number, or the place of the category among its column's (behind them all: none of
  // these). `label` is the place of the column of labels, classes if it is of categories, or columns.size() for none.
  // Values are trusted; `source` is what errors call the table, a file usually.
  Table(std::vector<Column> columns, std::size_t label, std::vector<double> values, std::string source = "Table")
      : columns_(std::move(columns)), label_(label), values_(std::move(values)), source_(std::move(source)) {
    require(!columns_.empty() && values_.size() % columns_.size() == 0, source_, ": there are ", values_.size(),
            " values, expected a multiple of the ", columns_.size(), " columns");
    require(label <= columns_.size(), source_, ": the label is column ", label, ", expected at most ", columns_.size());
  }

  std::size_t rows() const { return values_.size() / columns_.size(); }
  const std::vector<Column>& columns() const { return columns_; }
  bool has_label() const { return label_ < columns_.size(); }
  std::size_t label_column() const { return label_; }
  // The names of the classes: label k is class_names()[k]. Throws Error if there is no label column of categories.
  const std::vector<std::string>& class_names() const {
    require(has_label(), source_, ": there is no label column");
    require(!columns_[label_].numeric, source_, ": the label column '", columns_[label_].name,
            "' is numeric, expected classes: regression() has its numbers");
    return columns_[label_].categories;
  }
  double value(std::size_t row, std::size_t column) const { return values_[row * columns_.size() + column]; }

  // Inputs of an example: those of all columns but the label's.
  std::size_t width() const {
    std::size_t n = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) n += c == label_ ? 0 : columns_[c].width();
    return n;
  }
  // What each input is: "age", or "race=White".
  std::vector<std::string> input_names() const {
    std::vector<std::string> names;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c == label_) continue;
      if (columns_[c].numeric) names.push_back(columns_[c].name);
      for (const std::string& category : columns_[c].categories) names.push_back(columns_[c].name + "=" + category);
    }
    return names;
  }
  // rows x width: numbers as their column says, categories one-hot, or all 0 where it is none of the column's.
  std::vector<float> inputs() const {
    std::vector<float> result(rows() * width(), 0.0f);
    float* input = result.data();
    for (std::size_t row = 0; row < rows(); ++row)
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (c == label_) continue;
        const Column& column = columns_[c];
        if (column.numeric)
          *input = static_cast<float>((value(row, c) - column.mean) / column.deviation);
        else if (const auto place = static_cast<std::size_t>(value(row, c)); place < column.width())
          input[place] = 1;
        input += column.width();
      }
    return result;
  }
  // Throws Error if there is no label column of categories.
  std::vector<std::int32_t> labels() const {
    class_names();
    std::vector<std::int32_t> result(rows());
    for (std::size_t row = 0; row < result.size(); ++row) result[row] = static_cast<std::int32_t>(value(row, label_));
    return result;
  }
  // The rows as a data set. Throws Error if there is no label column of categories, or no other.
  InMemory<float> examples() const {
    const std::size_t classes = class_names().size();
    require(width() > 0, source_, ": there is no column but the label");
    return InMemory<float>(inputs(), labels(), Shape(width()), classes);
  }
  // The rows as a data set whose labels are the numbers of the label column, as they are in the file. Throws Error if
  // there is no numeric label column, or no other.
  InMemoryRegression<float> regression() const {
    require(has_label(), source_, ": there is no label column");
    require(columns_[label_].numeric, source_, ": the label column '", columns_[label_].name,
            "' is of categories, expected numbers (CsvOptions::numeric)");
    require(width() > 0, source_, ": there is no column but the label");
    std::vector<float> numbers(rows());
    for (std::size_t row = 0; row < numbers.size(); ++row) numbers[row] = static_cast<float>(value(row, label_));
    return InMemoryRegression<float>(inputs(), std::move(numbers), Shape(width()));
  }

 private:
  std::vector<Column> columns_;
  std::size_t label_;
  std::vector<double> values_;
  std::string source_;
};

}  // namespace algoperf
