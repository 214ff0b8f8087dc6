// Table: rows of named columns, each numeric or categorical, and their encoding as model inputs.
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

// A column's name, type and encoding. Its values are stored in the Table.
struct Column {
  std::string name;
  bool numeric = true;
  // The categories of a categorical column, sorted by value if all of them are numbers, else by bytes.
  std::vector<std::string> categories = {};
  // The encoding of a numeric column: a number becomes (number - mean) / deviation.
  double mean = 0, deviation = 1;

  // Returns the number of inputs that the column contributes to an example.
  std::size_t width() const { return numeric ? 1 : categories.size(); }
};

class Table {
 public:
  // `values` is rows x columns: a number, or the index of a category among its column's categories. An index equal to
  // the number of categories stands for an unknown category. `label` is the index of the label column, whose values are
  // classes if it is categorical; columns.size() means that there is none. `values` are not checked. `source` names the
  // table in error messages; usually it is a file.
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
  // Returns the names of the classes: label k is class_names()[k]. Throws Error if there is no categorical label
  // column.
  const std::vector<std::string>& class_names() const {
    require(has_label(), source_, ": there is no label column");
    require(!columns_[label_].numeric, source_, ": the label column '", columns_[label_].name,
            "' is numeric, expected categories; use regression() for real-valued labels");
    return columns_[label_].categories;
  }
  double value(std::size_t row, std::size_t column) const { return values_[row * columns_.size() + column]; }

  // Returns the number of inputs of an example: those of all columns except the label's.
  std::size_t width() const {
    std::size_t n = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) n += c == label_ ? 0 : columns_[c].width();
    return n;
  }
  // Returns the name of each input: "age", or "race=White".
  std::vector<std::string> input_names() const {
    std::vector<std::string> names;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c == label_) continue;
      if (columns_[c].numeric) names.push_back(columns_[c].name);
      for (const std::string& category : columns_[c].categories) names.push_back(columns_[c].name + "=" + category);
    }
    return names;
  }
  // Returns rows x width inputs: numbers encoded by mean and deviation, categories one-hot; all 0 for an unknown
  // category.
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
  // Returns the class of each row. Throws Error if there is no categorical label column.
  std::vector<std::int32_t> labels() const {
    class_names();
    std::vector<std::int32_t> result(rows());
    for (std::size_t row = 0; row < result.size(); ++row) result[row] = static_cast<std::int32_t>(value(row, label_));
    return result;
  }
  // Returns the rows as a data set. Throws Error if there is no categorical label column, or no other column.
  InMemory<float> examples() const {
    const std::size_t classes = class_names().size();
    require(width() > 0, source_, ": there is no column besides the label");
    return InMemory<float>(inputs(), labels(), Shape(width()), classes);
  }
  // Returns the rows as a data set whose labels are the unscaled numbers of the label column. Throws Error if there is
  // no numeric label column, or no other column.
  InMemoryRegression<float> regression() const {
    require(has_label(), source_, ": there is no label column");
    require(columns_[label_].numeric, source_, ": the label column '", columns_[label_].name,
            "' is categorical, expected numeric (list it in CsvOptions::numeric)");
    require(width() > 0, source_, ": there is no column besides the label");
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
