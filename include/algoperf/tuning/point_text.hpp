// The values of hyperparameters as text. Requires fmt.
#pragma once

#include <fmt/format.h>

#include <string>
#include <variant>

#include "concept.hpp"

namespace algoperf::detail {

inline std::string value_text(const HyperValue& value) {
  if (const double* const number = std::get_if<double>(&value)) return fmt::format("{:.4g}", *number);
  if (const bool* const flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::get<std::string>(value.alternatives());
}
inline std::string point_text(const HyperPoint& point, const char* separator) {
  std::string text;
  for (const auto& [name, value] : point.entries())
    text += (text.empty() ? "" : separator) + name + " = " + value_text(value);
  return text;
}

}  // namespace algoperf::detail
