// InMemoryFields: a data set of any named fields, stored in contiguous memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "../core/describe_shape.hpp"
#include "../core/error.hpp"
#include "../core/tuple.hpp"
#include "fields.hpp"
#include "shared.hpp"
#include "slice.hpp"

namespace algoperf {

// The values of a field, examples x shape, row-major.
template <class F>
struct FieldValues {
  std::vector<typename F::Element> values;
  Shape shape;  // of one example
};

//   const InMemoryFields<Field<"words", std::int32_t>, Field<"label", std::int32_t>> data({words, {20}}, {tags, {20}});
// The constructor takes the vectors by value (move them in), and they never change. Copies share them.
template <class... List>
class InMemoryFields {
 public:
  using Fields = FieldList<List...>;

  // Throws Error, naming the field, if the fields do not have whole examples, or not the same number of them.
  explicit InMemoryFields(FieldValues<List>... values)
      : columns_(std::tuple<FieldValues<List>...>(std::move(values)...)) {
    for_each_index<Fields::size>([&](auto i) {
      const auto& field = std::get<i>(*columns_);
      require(field.shape.size() > 0 && field.values.size() % field.shape.size() == 0, "InMemoryFields: the field '",
              std::string(Fields::names[i]), "' has ", field.values.size(), " values, expected a multiple of ",
              field.shape.size(), ", those of one example of shape ", describe(field.shape));
      const std::size_t examples = field.values.size() / field.shape.size();
      if (i == 0) size_ = examples;
      require(examples == size_, "InMemoryFields: the field '", std::string(Fields::names[i]), "' has ", examples,
              " examples, the field '", std::string(Fields::names[0]), "' ", size_);
    });
    require(size_ <= max_examples, "InMemoryFields: there are ", size_, " examples, expected at most ", max_examples,
            ": indices have 32 bits");
  }

  std::size_t size() const { return size_; }
  // Throws Error if there is no field of this name.
  Shape shape(std::string_view field) const {
    Shape found;
    const std::size_t place = Fields::find(field);
    require(place < Fields::size, "InMemoryFields: there is no field '", std::string(field), "'");
    for_each_index<Fields::size>([&](auto i) {
      if (i == place) found = std::get<i>(*columns_).shape;
    });
    return found;
  }
  // Returns examples [begin, end) as a data set that shares this one's memory.
  Slice<InMemoryFields> subset(std::size_t begin, std::size_t end) const { return {*this, begin, end}; }

  // Does not check indices: each must be below size().
  template <class To>
  void gather(const std::uint32_t* indices, std::size_t n, const To& to) const {
    gather_each(indices, n, to, std::index_sequence_for<List...>{});
  }

 private:
  template <class To, std::size_t... I>
  void gather_each(const std::uint32_t* indices, std::size_t n, const To& to, std::index_sequence<I...>) const {
    (copy(indices, n, std::get<I>(*columns_), to.template at<List::field_name>()), ...);
  }
  template <class F, class T>
  void copy(const std::uint32_t* indices, std::size_t n, const FieldValues<F>& field, T* rows) const {
    const std::size_t width = field.shape.size();
    for (std::size_t i = 0; i < n; ++i) {
      const typename F::Element* const from = field.values.data() + indices[i] * width;
      for (std::size_t j = 0; j < width; ++j) rows[i * width + j] = static_cast<T>(from[j]);
    }
  }

  Shared<std::tuple<FieldValues<List>...>> columns_;
  std::size_t size_ = 0;
};

}  // namespace algoperf
