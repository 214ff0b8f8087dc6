// InMemoryFields: a data set of any named fields, stored in contiguous memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "../core/copy_as.hpp"
#include "../core/describe_shape.hpp"
#include "../core/error.hpp"
#include "../core/tuple.hpp"
#include "fields.hpp"
#include "shared.hpp"
#include "slice.hpp"

namespace algoperf {

// The values of a field, row-major: examples x shape or, on a ragged axis, rows x shape.
template <class F>
struct FieldValues {
  std::vector<typename F::Element> values;
  Shape shape;            // of one example or row
  std::string axis = {};  // the name of a ragged axis
};

// The number of rows of each example on a ragged axis.
struct RaggedAxis {
  std::string name;
  std::vector<std::uint32_t> rows;
};

//   const InMemoryFields<Field<"words", std::int32_t>, Field<"label", std::int32_t>> data({words, {20}}, {tags, {20}});
// With examples of 3, 1 and 2 words, and a label each:
//   const InMemoryFields<Field<"words", std::int32_t>, Field<"label", std::int32_t>> data(
//       {{"words", {3, 1, 2}}}, {words, {1}, "words"}, {labels, {1}});
// The constructor takes the vectors by value (move them in), and they never change. Copies share them.
template <class... List>
class InMemoryFields {
 public:
  using Fields = FieldList<List...>;

  // Throws Error, naming the field or the axis, if a field does not have whole examples, or not as many rows or
  // examples as the others; and if two axes have one name.
  explicit InMemoryFields(FieldValues<List>... values)
      : InMemoryFields(std::vector<RaggedAxis>(), std::move(values)...) {}
  explicit InMemoryFields(std::vector<RaggedAxis> axes, FieldValues<List>... values)
      : contents_(Contents{std::tuple<FieldValues<List>...>(std::move(values)...), begins_of(axes)}) {
    if (!axes.empty()) size_ = axes[0].rows.size();
    for (std::size_t i = 0; i < axes.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        require(axes[i].name != axes[j].name, "InMemoryFields: two axes have the name '", axes[i].name, "'");
    for (const RaggedAxis& axis : axes)
      require(axis.rows.size() == size_, "InMemoryFields: the axis '", axis.name, "' has ", axis.rows.size(),
              " examples, the axis '", axes[0].name, "' ", size_);
    for_each_index<Fields::size>([&](auto i) {
      const auto& field = std::get<i>(contents_->columns);
      const std::string name(Fields::names[i]);
      const std::size_t width = field.shape.size(), values_of = field.values.size();
      if (!field.axis.empty()) {
        const Begins* const begins = find_axis(field.axis);
        require(begins != nullptr, "InMemoryFields: the field '", name, "' lies on the axis '", field.axis,
                "', for which no numbers of rows are given");
        require(values_of == begins->rows.back() * width, "InMemoryFields: the field '", name, "' has ", values_of,
                " values, expected ", begins->rows.back(), " rows on the axis '", field.axis, "' with ", width,
                " each, of shape ", describe(field.shape));
        return;
      }
      require(width > 0 && values_of % width == 0, "InMemoryFields: the field '", name, "' has ", values_of,
              " values, expected a multiple of ", width, ", those of one example of shape ", describe(field.shape));
      const std::size_t examples = values_of / width;
      if (i == 0 && axes.empty()) size_ = examples;
      require(examples == size_, "InMemoryFields: the field '", name, "' has ", examples, " examples, the ",
              axes.empty() ? "field '" + std::string(Fields::names[0]) : "axis '" + axes[0].name, "' ", size_);
    });
    require(size_ <= max_examples, "InMemoryFields: there are ", size_, " examples, expected at most ", max_examples,
            ": indices have 32 bits");
  }

  std::size_t size() const { return size_; }
  // Throws Error if there is no field of this name.
  Shape shape(std::string_view field) const {
    Shape found;
    visit(field, [&](const auto& values) { found = values.shape; });
    return found;
  }
  // Returns the name of a field's ragged axis, empty if it has none. Throws Error if there is no field of this name.
  std::string_view axis(std::string_view field) const {
    std::string_view found;
    visit(field, [&](const auto& values) { found = values.axis; });
    return found;
  }
  // Returns the number of rows of an example on a ragged axis. Throws Error if there is no axis of this name.
  std::size_t rows(std::string_view axis, std::size_t example) const {
    const Begins* const begins = find_axis(axis);
    require(begins != nullptr, "InMemoryFields: there is no axis '", std::string(axis), "'");
    return begins->rows[example + 1] - begins->rows[example];
  }
  // Returns examples [begin, end) as a data set that shares this one's memory.
  Slice<InMemoryFields> subset(std::size_t begin, std::size_t end) const { return {*this, begin, end}; }

  // Does not check indices: each must be below size().
  template <class To>
  void gather(const std::uint32_t* indices, std::size_t n, const To& to) const {
    gather_each(indices, n, to, std::index_sequence_for<List...>{});
  }

 private:
  // Where the rows of each example begin on an axis, and the number of all rows.
  struct Begins {
    std::string axis;
    std::vector<std::size_t> rows;
  };
  struct Contents {
    std::tuple<FieldValues<List>...> columns;
    std::vector<Begins> axes;
  };

  static std::vector<Begins> begins_of(const std::vector<RaggedAxis>& axes) {
    std::vector<Begins> all;
    for (const RaggedAxis& axis : axes) {
      all.push_back({axis.name, {0}});
      for (const std::uint32_t rows : axis.rows) all.back().rows.push_back(all.back().rows.back() + rows);
    }
    return all;
  }
  const Begins* find_axis(std::string_view name) const {
    for (const Begins& begins : contents_->axes)
      if (begins.axis == name) return &begins;
    return nullptr;
  }
  template <class F>
  void visit(std::string_view field, const F& f) const {
    const std::size_t place = Fields::find(field);
    require(place < Fields::size, "InMemoryFields: there is no field '", std::string(field), "'");
    for_each_index<Fields::size>([&](auto i) {
      if (i == place) f(std::get<i>(contents_->columns));
    });
  }
  template <class To, std::size_t... I>
  void gather_each(const std::uint32_t* indices, std::size_t n, const To& to, std::index_sequence<I...>) const {
    (copy(indices, n, std::get<I>(contents_->columns), to.template at<List::field_name>()), ...);
  }
  template <class F, class T>
  void copy(const std::uint32_t* indices, std::size_t n, const FieldValues<F>& field, T* to) const {
    const Begins* const begins = field.axis.empty() ? nullptr : find_axis(field.axis);
    const std::size_t width = field.shape.size();
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t first = begins == nullptr ? indices[i] : begins->rows[indices[i]];
      const std::size_t rows = begins == nullptr ? 1 : begins->rows[indices[i] + 1] - first;
      copy_as(rows * width, field.values.data() + first * width, to);
      to += rows * width;
    }
  }

  Shared<Contents> contents_;
  std::size_t size_ = 0;
};

}  // namespace algoperf
