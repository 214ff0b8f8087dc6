// Writes trials as CSV (RFC 4180), one line per evaluation.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "../state/atomic_file.hpp"
#include "concept.hpp"

namespace algoperf {

namespace detail {

// Returns the text, quoted if CSV requires it.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

}  // namespace detail

inline void write_csv(const std::string& path, const std::vector<Trial>& trials) {
  std::string text = "rule,seed,step,training_seconds,evaluation_seconds,loss,metric\n";
  for (const Trial& trial : trials)
    for (const EvaluationReport& e : trial.evaluations)
      text += fmt::format("{},{},{},{:.6f},{:.6f},{:.9g},{:.9g}\n", detail::csv_field(trial.rule), trial.seed, e.step,
                          e.training_seconds, e.evaluation_seconds, e.loss, e.metric);
  write_file(path, text);
}

}  // namespace algoperf
