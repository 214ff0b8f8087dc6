// token_sequences: the tokens of a ragged field, by example.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../core/error.hpp"
#include "fields.hpp"

namespace algoperf {

namespace detail {

// Where a data set writes an example.
template <class Fields>
struct ExampleMemory {
  std::array<std::int32_t*, Fields::size> tokens{};
  std::array<float*, Fields::size> reals{};

  template <FieldName name>
  auto* at() const {
    constexpr std::size_t i = Fields::find(name);
    if constexpr (Fields::holds_tokens[i])
      return tokens[i];
    else
      return reals[i];
  }
};

}  // namespace detail

// Returns the tokens of each example of a data set in a field, which may lie on a ragged axis. Throws Error if the data
// set has no such field of tokens.
template <FieldDataset Data>
std::vector<std::vector<std::int32_t>> token_sequences(const Data& data, std::string_view field) {
  using Fields = typename Data::Fields;
  const std::size_t wanted = Fields::find(field);
  require(wanted < Fields::size && Fields::holds_tokens[wanted < Fields::size ? wanted : 0],
          "token_sequences: the data set has no field '", std::string(field), "' of tokens");
  std::vector<std::vector<std::int32_t>> sequences;
  std::array<std::vector<std::int32_t>, Fields::size> tokens;
  std::array<std::vector<float>, Fields::size> reals;
  detail::ExampleMemory<Fields> to;
  for (std::size_t e = 0; e < data.size(); ++e) {
    const auto index = static_cast<std::uint32_t>(e);
    for (std::size_t i = 0; i < Fields::size; ++i) {
      const std::string_view name = Fields::names[i];
      const std::size_t n = detail::rows_of_field(data, name, &index, 1) * data.shape(name).size();
      Fields::holds_tokens[i] ? tokens[i].resize(n) : reals[i].resize(n);
      to.tokens[i] = tokens[i].data();
      to.reals[i] = reals[i].data();
    }
    data.gather(&index, 1, to);
    sequences.push_back(tokens[wanted]);
  }
  return sequences;
}

}  // namespace algoperf
