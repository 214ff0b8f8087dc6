// Benchmark fixtures. A fixture registers a Google Benchmark that uses parts of the library. It consists of a function
// register_x(name, ...), which returns the benchmark for further configuration, and a macro ALGOPERF_X(...) for a
// user's file, which names the benchmark after the macro's arguments. Each fixture documents which time it measures
// and reports other results as counters. An error skips the benchmark and becomes its error message.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include "../core/config.hpp"

namespace algoperf::detail {

// Returns the name of a benchmark created from `arguments`: each argument as written, preceded by '/', without
// namespaces, spaces and trailing empty brackets.
//   readable_name("step", "ap::adamw({.beta1 = 0.8}), ap::Host<>{}")  is  "step/adamw({.beta1=0.8})/Host<>"
inline std::string readable_name(std::string_view kind, std::string_view arguments) {
  std::string name = std::string(kind) + '/';
  const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto close = [&name] {
    while (name.ends_with("()") || name.ends_with("{}")) name.resize(name.size() - 2);
  };
  int depth = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const char c = arguments[i];
    if (c == ' ') continue;
    if (arguments.substr(i, 2) == "::") {
      while (is_of_name(name.back())) name.pop_back();
      ++i;
      continue;
    }
    depth += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
    if (c == ',' && depth == 0) {
      close();
      name += '/';
    } else {
      name += c;
    }
  }
  close();
  return name;
}

// Returns the arguments as written, without the last n.
inline std::string_view without_last(std::string_view arguments, std::size_t n) {
  int depth = 0;
  for (std::size_t i = arguments.size(); i-- > 0 && n > 0;) {
    const char c = arguments[i];
    depth += (c == ')' || c == '}' || c == ']') - (c == '(' || c == '{' || c == '[');
    if (c == ',' && depth == 0 && --n == 0) return arguments.substr(0, i);
  }
  return arguments;
}

}  // namespace algoperf::detail

// Declares a variable that holds a registered benchmark, so that it can be configured: ... = register(...)->Unit(...);
#define ALGOPERF_BENCHMARK_VARIABLE \
  [[maybe_unused]] static auto* const ALGOPERF_BENCHMARK_JOIN(algoperf_benchmark_, __COUNTER__)
#define ALGOPERF_BENCHMARK_JOIN(a, b) ALGOPERF_BENCHMARK_JOIN_EXPANDED(a, b)
#define ALGOPERF_BENCHMARK_JOIN_EXPANDED(a, b) a##b
