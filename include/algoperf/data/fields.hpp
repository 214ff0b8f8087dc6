// Fields: the named arrays that a data set consists of. A model reads fields by name (nn/graph/op.hpp).
//
//   struct Pages {
//     using Fields = FieldList<Field<"pixels", float>, Field<"words", std::int32_t>, Field<"label", std::int32_t>>;
//     std::size_t size() const;                              // number of examples, at most max_examples
//     Shape shape(std::string_view field) const;             // of one example
//     template <class To>
//     void gather(const std::uint32_t* indices, std::size_t n, const To& to) const {
//       std::int32_t* const words = to.template at<"words">();   // n rows of shape("words").size() elements
//       ...
//     }
//   };
//
// A field of std::int32_t holds tokens: classes, or indices of rows of a table. A field of any other type holds real
// values, and to.at() returns a pointer to the backend's Scalar. A FieldDataset may have fields that a model does not
// read. A Dataset (data/concept.hpp) has the fields "input" and "label".
//
// Fields whose examples have different numbers of rows, such as the words of sentences, lie on a ragged axis, which a
// RaggedDataset names:
//     std::string_view axis(std::string_view field) const;   // of a field, e.g. "words"; empty if it is not ragged
//     std::size_t rows(std::string_view axis, std::size_t example) const;
// shape() is then that of one row. gather writes all rows of an example before those of the next, as many as rows()
// says: the batch has memory for these.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "../core/tuple.hpp"
#include "concept.hpp"

namespace algoperf {

// A text as a template argument.
template <std::size_t N>
struct FieldName {
  char text[N];
  consteval FieldName(const char (&t)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = t[i];
  }
  constexpr operator std::string_view() const { return {text, N - 1}; }
};

template <FieldName its_name, class T>
struct Field {
  using Element = T;
  static constexpr FieldName field_name = its_name;
  static constexpr std::string_view name = field_name;
  static constexpr bool holds_tokens = std::is_same_v<T, std::int32_t>;
};

namespace detail {

template <std::size_t n>
constexpr bool all_different(const std::array<std::string_view, n>& names) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (names[i] == names[j]) return false;
  return true;
}

}  // namespace detail

template <class... Fields>
struct FieldList {
  static_assert(detail::all_different(std::array<std::string_view, sizeof...(Fields)>{Fields::name...}),
                "algoperf: two fields of a data set have the same name");
  static constexpr std::size_t size = sizeof...(Fields);
  static constexpr std::array<std::string_view, size> names{Fields::name...};
  static constexpr std::array<bool, size> holds_tokens{Fields::holds_tokens...};
  template <std::size_t i>
  static constexpr FieldName name_of = TupleElement<i, Tuple<Fields...>>::field_name;

  // Returns the place of a field in the list, or `size` if there is none of this name.
  static constexpr std::size_t find(std::string_view name) {
    std::size_t i = 0;
    while (i < size && names[i] != name) ++i;
    return i;
  }
};

template <class D>
concept FieldDataset = requires(const D& d) {
  { D::Fields::size } -> std::convertible_to<std::size_t>;
  { d.size() } -> std::convertible_to<std::size_t>;
  { d.shape(std::string_view{}) } -> std::convertible_to<Shape>;
};

// A FieldDataset that may have ragged axes.
template <class D>
concept RaggedDataset = FieldDataset<D> && requires(const D& d) {
  { d.axis(std::string_view{}) } -> std::convertible_to<std::string_view>;
  { d.rows(std::string_view{}, std::size_t{}) } -> std::convertible_to<std::size_t>;
};

namespace detail {

// Returns the ragged axis of a field, or an empty name.
template <class D>
std::string_view axis_of_field(const D& data, std::string_view field) {
  if constexpr (RaggedDataset<D>)
    return data.axis(field);
  else
    return {};
}
// Returns the number of rows of an example on a ragged axis.
template <class D>
std::size_t rows_on(const D& data, std::string_view axis, std::size_t example) {
  if constexpr (RaggedDataset<D>)
    return data.rows(axis, example);
  else
    return 0;
}
// Returns the number of rows of n examples in a field.
template <class D>
std::size_t rows_of_field(const D& data, std::string_view field, const std::uint32_t* indices, std::size_t n) {
  const std::string_view axis = axis_of_field(data, field);
  if (axis.empty()) return n;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < n; ++i) rows += rows_on(data, axis, indices[i]);
  return rows;
}

// A FieldDataset whose batches of training steps depend on random numbers: gather(indices, n, to, key).
template <class D>
concept RandomDataset = FieldDataset<D> && requires {
  requires D::is_random;
};

// The fields of a data set.
template <class D>
struct FieldsOfData {
  using type = FieldList<Field<"input", typename D::Input>, Field<"label", LabelOf<D>>>;
};
template <FieldDataset D>
struct FieldsOfData<D> {
  using type = typename D::Fields;
};
template <class D>
using FieldsOf = typename FieldsOfData<D>::type;

template <class D>
constexpr bool has_label() {
  return FieldsOf<D>::find("label") < FieldsOf<D>::size;
}
// The type of the labels of a data set in the memory of a backend of Scalar S.
template <class D, class S>
using LabelInMemory = std::conditional_t<FieldsOf<D>::holds_tokens[FieldsOf<D>::find("label")], std::int32_t, S>;

}  // namespace detail

}  // namespace algoperf
