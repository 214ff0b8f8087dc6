// What the sections of a study's report share: the study, its standings, and the text of times and points. Requires fmt
// and nlohmann-json.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../../report/html.hpp"
#include "../../report/svg_chart.hpp"
#include "../../scoring/standings.hpp"
#include "../point_text.hpp"
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
  std::string coloured_name(std::size_t s) const { return chart_key(s, names()[s]); }
  std::string legend() const {
    std::string html = "<div class=\"keys\">";
    for (const std::size_t s : standings.order) html += "<span>" + coloured_name(s) + "</span>";
    return html + "</div>\n";
  }
};

}  // namespace algoperf::detail
