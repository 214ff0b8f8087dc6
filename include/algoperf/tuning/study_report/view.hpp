// What the sections of a study's report share: the study, its standings, and the text of times and points. Requires fmt
// and nlohmann-json.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "../../report/html.hpp"
#include "../../report/svg_chart.hpp"
#include "../../scoring/standings.hpp"
#include "../study.hpp"

namespace algoperf::detail {

inline const char* clock_unit(Clock clock) {
  constexpr const char* units[] = {"training seconds", "steps", "examples", "FLOPs"};
  return units[static_cast<std::size_t>(clock)];
}

inline std::string clock_text(double value) {
  if (std::isinf(value)) return "missed";
  if (std::isnan(value)) return "no logs";
  if (value >= 1e6) return fmt::format("{:.3g}", value);
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

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

// References to what a report shows, which must outlive it.
struct StudyView {
  const Study& study;
  const std::vector<StudyRecord>& records;
  const Standings& standings;
  const std::vector<TrialLog>& logs;  // of the records, in their order
  Clock clock;

  const Suite& suite() const { return standings.times.suite; }
  const std::vector<std::string>& names() const { return standings.times.submissions; }
  // Returns the name of a submission behind a square of its colour, which is that of its place among the submissions.
  std::string coloured_name(std::size_t s) const {
    return fmt::format("<span class=\"key\" style=\"background:{}\"></span>{}", chart_color(s), html_text(names()[s]));
  }
  std::string legend() const {
    std::string html = "<div class=\"keys\">";
    for (const std::size_t s : standings.order) html += "<span>" + coloured_name(s) + "</span>";
    return html + "</div>\n";
  }
};

}  // namespace algoperf::detail
