// Charts of curves, points, bands and marks on logarithmic axes, drawn by gnuplot as SVG and PNG.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "gnuplot.hpp"

namespace algoperf {

enum class Draw { line, dashes, dots };

struct Chart {
  struct Series {
    std::string name = {};  // in the key; empty: no entry
    std::vector<std::array<double, 2>> points = {};
    Draw draw = Draw::line;
    std::size_t color = 0;  // index into eight colours
    double width = 2;       // line width
  };
  struct Band {
    std::string name = {};
    std::vector<std::array<double, 3>> points = {};  // x, low, high
    std::size_t color = 0;
  };
  struct Mark {
    std::string name = {};
    double x = 0;
  };
  std::string title = {}, x = {}, y = {};
  std::vector<Series> series = {};
  std::vector<Band> bands = {};
  std::vector<Mark> marks = {};  // vertical lines
};

// Writes `stem`.svg and `stem`.png. Points that are not positive and finite cannot be shown on logarithmic axes and
// are skipped. Throws Error if there is nothing to draw, or if gnuplot fails.
inline void draw(const std::string& stem, const Chart& chart) {
  const auto drawn = [](const auto& point) {
    return std::all_of(point.begin(), point.end(), [](double v) { return v > 0 && v < HUGE_VAL; });
  };
  const auto has_points = [&](const auto& one) { return std::any_of(one.points.begin(), one.points.end(), drawn); };
  const auto any = [&](const auto& all) { return std::any_of(all.begin(), all.end(), has_points); };
  require(any(chart.series) || any(chart.bands), stem, ": there is no point above 0 to draw");
  for (const Chart::Mark& mark : chart.marks)
    require(mark.x > 0 && mark.x < HUGE_VAL, stem, ": a mark is at ", mark.x, ", expected a positive number");
  constexpr const char* colors[] = {"1f77b4", "d62728", "2ca02c", "9467bd", "ff7f0e", "8c564b", "17becf", "7f7f7f"};
  std::string data, commands, marks;
  const auto block = [&](const auto& points) {
    const std::string name = fmt::format("$block{}", data.size());
    data += name + " << EOD\n";
    for (const auto& point : points)
      if (drawn(point)) data += fmt::format("{:.9g}\n", fmt::join(point, " "));
    data += "EOD\n";
    return name;
  };
  const auto title = [](const std::string& name) {
    return name.empty() ? std::string("notitle") : "title " + detail::quoted(name) + " noenhanced";
  };
  for (const Chart::Band& band : chart.bands) {
    if (!has_points(band)) continue;
    commands += fmt::format("{} with filledcurves fc rgb '#c0{}' {}, ", block(band.points), colors[band.color % 8],
                            title(band.name));
  }
  for (const Chart::Series& s : chart.series) {
    if (!has_points(s)) continue;
    const char* const color = colors[s.color % 8];
    commands += s.draw == Draw::dots
                    ? fmt::format("{} with points pt 7 ps 0.6 lc rgb '#{}' {}, ", block(s.points), color, title(s.name))
                    : fmt::format("{} with lines lw {:g} dt {} lc rgb '#{}' {}, ", block(s.points), s.width,
                                  s.draw == Draw::line ? 1 : 2, color, title(s.name));
  }
  for (const Chart::Mark& mark : chart.marks)
    marks += fmt::format(
        "set arrow from {0:.9g}, graph 0 to {0:.9g}, graph 1 nohead dt 3 lc rgb '#555555'\n"
        "set label {1} at {0:.9g}, graph 0.97 offset 0.5, 0 noenhanced\n",
        mark.x, detail::quoted(mark.name));
  const std::string script =
      "set title " + detail::quoted(chart.title) +
      " noenhanced\nset grid lc rgb '#dddddd'\nset border 3\nset tics nomirror\nset logscale xy\nset autoscale xfix\n"
      "set format '10^{%T}'\nset key outside right top\nset xlabel " +
      detail::quoted(chart.x) + " noenhanced\nset ylabel " + detail::quoted(chart.y) + " noenhanced\n" + marks + data +
      "plot " + commands + "\n";
  detail::gnuplot("svg size 900,540 font 'Helvetica,14' background 'white'", stem + ".svg", script);
  detail::gnuplot("pngcairo size 1350,810 font 'Helvetica,15' linewidth 1.5 background 'white'", stem + ".png", script);
}

}  // namespace algoperf
