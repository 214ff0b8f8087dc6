// hashed_columns(table): the rows of a Table as numbers and as tokens of one vocabulary, for recommendation models.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../numbers_and_categories.hpp"
#include "table.hpp"

namespace algoperf {

namespace detail {

// The 64-bit FNV-1a hash, which is the same on every machine.
inline std::uint64_t fnv_1a(const std::string& text) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

}  // namespace detail

// The field "numbers" holds log(1 + max(x, 0)) of each numeric column. "categories" holds, for each other column, the
// hash of name=category modulo `buckets`: all columns share one vocabulary, in which categories may collide. "label"
// holds the class. An unknown category is hashed as an empty one.
// Source: AlgoPerf's criteo1tb, which uses another hash function.
// Throws Error if the table has no categorical label column, no numeric column, or no other categorical column.
inline NumbersAndCategories hashed_columns(const Table& table, std::size_t buckets = 4096) {
  std::vector<float> numbers;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> labels = table.labels();
  std::size_t numeric = 0, categorical = 0;
  for (std::size_t c = 0; c < table.columns().size(); ++c)
    if (c != table.label_column()) ++(table.columns()[c].numeric ? numeric : categorical);
  require(numeric > 0 && categorical > 0, "hashed_columns: the table has ", numeric, " numeric and ", categorical,
          " categorical columns besides the label, expected at least one of each");
  require(buckets > 0 && buckets <= INT32_MAX, "hashed_columns: there are ", buckets, " buckets, expected 1 to ",
          INT32_MAX);
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (std::size_t c = 0; c < table.columns().size(); ++c) {
      if (c == table.label_column()) continue;
      const Column& column = table.columns()[c];
      if (column.numeric) {
        const double x = table.value(row, c);
        numbers.push_back(static_cast<float>(std::log1p(x > 0 ? x : 0)));
      } else {
        const double place = table.value(row, c);
        const bool known = place >= 0 && place < static_cast<double>(column.categories.size());
        const std::string category = known ? column.categories[static_cast<std::size_t>(place)] : "";
        tokens.push_back(static_cast<std::int32_t>(detail::fnv_1a(column.name + "=" + category) % buckets));
      }
    }
  return NumbersAndCategories({std::move(numbers), {numeric}}, {std::move(tokens), {categorical}},
                              {std::move(labels), {1}});
}

}  // namespace algoperf
