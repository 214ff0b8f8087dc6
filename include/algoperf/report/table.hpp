// The time-to-target table as text.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "summary.hpp"

namespace algoperf {

// Returns "median (low - high)", with "missed" for infinite values. Values below 1 use the format `below_one` if it
// is given.
inline std::string format_spread(const Spread& s, const char* number, const char* below_one = nullptr) {
  const auto one = [&](double x) {
    const char* const as = below_one != nullptr && x < 1 ? below_one : number;
    return x < Trial::missed ? fmt::format(fmt::runtime(as), x) : std::string("missed");
  };
  if (s.low == s.high) return one(s.median);
  return one(s.median) + " (" + one(s.low) + " - " + one(s.high) + ")";
}

inline std::string format_seconds(const Spread& s) { return format_spread(s, "{:.2f}", "{:.3g}"); }

// Returns the rows as text, with the first row as the header. Every column is as wide as its widest cell.
inline std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c == widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], row[c].size());
    }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      text += fmt::format(fmt::runtime(c == 0 ? "{:<{}}" : "  {:>{}}"), rows[r][c], widths[c]);
    text += '\n';
    if (r > 0) continue;
    for (std::size_t c = 0; c < widths.size(); ++c) text += std::string(widths[c] + (c == 0 ? 0 : 2), '-');
    text += '\n';
  }
  return text;
}

// Returns "1/3" for one success in three trials, or "1/3 (diverged at 17, 40)" with the steps at which trials
// diverged.
inline std::string format_reached(const Summary& s) {
  std::string text = fmt::format("{}/{}", s.reached, s.trials);
  for (std::size_t i = 0; i < s.diverged.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? " (diverged at " : ", ", s.diverged[i]);
  return s.diverged.empty() ? text : text + ")";
}

inline std::string format_summaries(const std::vector<Summary>& summaries, const std::string& metric) {
  std::vector<std::vector<std::string>> rows{
      {"rule", "reached", "steps to target", "training s to target", "evaluation s", "best " + metric, "ratio"}};
  for (const Summary& s : summaries)
    rows.push_back({s.rule, format_reached(s), format_spread(s.steps, "{:.0f}"), format_seconds(s.seconds),
                    format_seconds(s.evaluation_seconds), format_spread(s.best_metric, "{:.4f}"),
                    format_spread({s.ratio, s.ratio, s.ratio}, "{:.2f}")});
  return format_table(rows);
}

}  // namespace algoperf
