// SvgChart: a chart as SVG within a page of html.hpp. Points show their values beside the pointer.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "html.hpp"

namespace algoperf {

// How the points of a series are drawn: under the pointer only, or as a disc, ring, cross or star.
enum class SvgMark { hover, disc, ring, cross, star };

struct SvgChart {
  struct Point {
    double x = 0, y = 0;
    std::string tip = {};  // shown beside the pointer
  };
  struct Series {
    std::size_t color = 0;
    std::vector<Point> points = {};
    bool line = true;   // joined by lines
    bool step = false;  // y stays constant until the next x
    SvgMark mark = SvgMark::hover;
    bool dashed = false;  // the line
    double opacity = 1;
  };

  std::string x, y;  // labels of the axes
  bool log_x = false, log_y = false;
  std::vector<Series> series = {};
  std::vector<double> lines = {};  // dashed horizontal lines, such as a target
  double width = 520, height = 320;
  double least_y = NAN, most_y = NAN, most_x = NAN;  // ends of the axes; NaN: those of the points
};

// Returns the colour of a series, "#4269d0" for instance. Colours repeat after the tenth.
inline const char* chart_color(std::size_t i) {
  static constexpr const char* colors[] = {"#4269d0", "#ff725c", "#3ca951", "#efb118", "#a463f2",
                                           "#2fb5c7", "#ff8ab7", "#9c6b4e", "#59636e", "#8a9a00"};
  return colors[i % 10];
}

// Returns a square of a series' colour and its name, as HTML.
inline std::string chart_key(std::size_t color, const std::string& name) {
  return fmt::format("<span class=\"key\" style=\"background:{}\"></span>{}", chart_color(color), html_text(name));
}

namespace detail {

// Maps values of an axis to positions in pixels.
struct ChartAxis {
  double low, high, from, to;  // from: position of `low`
  bool log;

  double at(double value) const {
    const double share = log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }
  bool shows(double value) const { return std::isfinite(value) && (!log || value > 0); }

  // 1, 2 and 5 times powers of ten on a logarithmic axis, or powers of ten over more than two decades; otherwise about
  // five multiples of 1, 2 or 5 times a power of ten.
  std::vector<double> ticks() const {
    std::vector<double> found;
    if (log) {
      const bool wide = std::log10(high / low) > 2.2;
      const double decades = std::ceil(std::log10(high / low) / 6);
      for (double power = std::floor(std::log10(low)); power <= std::log10(high); power += wide ? decades : 1)
        for (const double one : {1.0, 2.0, 5.0})
          if (const double tick = one * std::pow(10, power); (one == 1 || !wide) && tick >= low && tick <= high)
            found.push_back(tick);
      if (found.size() >= 2) return found;
      found.clear();
    }
    const double rough = (high - low) / 5, power = std::pow(10, std::floor(std::log10(rough)));
    const double unit = rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10;
    const double step = unit * power;
    for (double n = std::ceil(low / step - 1e-9); n * step <= high * (1 + 1e-12); ++n) found.push_back(n * step);
    return found;
  }
};

// Returns the axis of values between two positions. A logarithmic axis has only positive values; if there is none, it
// becomes linear.
inline ChartAxis chart_axis(std::vector<double> values, bool log, double from, double to, double least, double most) {
  const bool positive = std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v > 0; });
  log = log && positive;
  double low = INFINITY, high = -INFINITY;
  for (const double v : values)
    if (std::isfinite(v) && (!log || v > 0)) low = std::min(low, v), high = std::max(high, v);
  if (!(low <= high)) low = 0, high = 1;
  if (!std::isnan(least)) low = least;
  if (!std::isnan(most)) high = most;
  if (high - low <= 1e-9 * std::max(std::fabs(low), std::fabs(high))) {  // ticks would differ by rounding errors only
    const double room = low == 0 ? 1 : std::fabs(low) * 0.1;
    low -= room, high += room;
  }
  if (std::isnan(least)) low = log ? low / std::pow(high / low, 0.03) : low == 0 ? 0 : low - 0.03 * (high - low);
  if (std::isnan(most)) high = log ? high * std::pow(high / low, 0.03) : high + 0.03 * (high - low);
  return {low, high, from, to, log};
}

// Returns a mark at a position. A mark that is not visible appears under the pointer.
inline std::string svg_mark(SvgMark mark, double x, double y, const char* color, const std::string& tip) {
  const std::string data = fmt::format("data-tip=\"{}\"", html_text(tip));
  switch (mark) {
    case SvgMark::cross:
      return fmt::format(
          "<path class=\"dot seen\" fill=\"none\" stroke=\"{0}\" stroke-width=\"1.6\" "
          "d=\"M{1:.1f} {2:.1f}l7 7m0 -7l-7 7\" {3}/>\n",
          color, x - 3.5, y - 3.5, data);
    case SvgMark::ring:
      return fmt::format(
          "<circle class=\"dot seen\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"#fff\" stroke=\"{}\" "
          "stroke-width=\"1.6\" {}/>\n",
          x, y, color, data);
    case SvgMark::star: {
      std::string corners;
      for (int i = 0; i < 10; ++i) {
        const double angle = 3.14159265358979 * i / 5, radius = i % 2 == 0 ? 9 : 3.8;
        corners += fmt::format("{:.1f},{:.1f} ", x + radius * std::sin(angle), y - radius * std::cos(angle));
      }
      return fmt::format(
          "<polygon class=\"dot seen\" points=\"{}\" fill=\"{}\" stroke=\"#1c2733\" stroke-width=\"0.8\" {}/>\n",
          corners, color, data);
    }
    case SvgMark::hover:
    case SvgMark::disc:
      break;
  }
  const bool seen = mark == SvgMark::disc;
  return fmt::format("<circle class=\"dot{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" {}/>\n",
                     seen ? " seen" : "", x, y, seen ? 4 : 5, color, data);
}

inline std::string tick_text(double value) {
  if (std::fabs(value) < 1e-12) return "0";
  const double magnitude = std::fabs(value);
  if (magnitude >= 1e5 || magnitude < 1e-3) return fmt::format("{:.0e}", value);
  return fmt::format("{:.6g}", value);
}

}  // namespace detail

// Returns the chart as SVG. Values that are not finite, or not positive on a logarithmic axis, are left out.
inline std::string draw_svg(const SvgChart& chart) {
  std::vector<double> xs, ys = chart.lines;
  for (const SvgChart::Series& series : chart.series)
    for (const SvgChart::Point& point : series.points) xs.push_back(point.x), ys.push_back(point.y);
  const double left = 58, right = chart.width - 14, top = 12, bottom = chart.height - 40;
  const detail::ChartAxis x = detail::chart_axis(xs, chart.log_x, left, right, NAN, chart.most_x);
  const detail::ChartAxis y = detail::chart_axis(ys, chart.log_y, bottom, top, chart.least_y, chart.most_y);
  std::string svg = fmt::format("<svg width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" role=\"img\">\n",
                                chart.width, chart.height);
  double last = -1e9;
  for (const double tick : x.ticks()) {
    if (x.at(tick) - last < 44) continue;
    last = x.at(tick);
    svg += fmt::format(
        "<line class=\"rule\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/><text "
        "x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
        last, top, bottom, bottom + 16, detail::tick_text(tick));
  }
  for (const double tick : y.ticks())
    svg += fmt::format(
        "<line class=\"rule\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text "
        "x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        left, right, y.at(tick), left - 7, y.at(tick) + 4, detail::tick_text(tick));
  svg += fmt::format("<path class=\"axis\" fill=\"none\" d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\"/>\n", left, top, bottom,
                     right);
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left + right) / 2,
                     chart.height - 6, html_text(chart.x));
  svg += fmt::format("<text transform=\"translate(12 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                     (top + bottom) / 2, html_text(chart.y));
  for (const double line : chart.lines)
    if (y.shows(line))
      svg += fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#1c2733\" "
          "stroke-dasharray=\"5 4\"/>\n",
          left, right, y.at(line));
  std::string dots;
  for (const SvgChart::Series& series : chart.series) {
    std::string path;
    const char* const color = chart_color(series.color);
    for (const SvgChart::Point& point : series.points) {
      if (!x.shows(point.x) || !y.shows(point.y)) continue;
      const double px = x.at(point.x), py = std::clamp(y.at(point.y), top, bottom);
      if (path.empty())
        path = fmt::format("M{:.1f} {:.1f}", px, py);
      else
        path += series.step ? fmt::format("H{:.1f}V{:.1f}", px, py) : fmt::format("L{:.1f} {:.1f}", px, py);
      if (!point.tip.empty() || series.mark != SvgMark::hover)
        dots += detail::svg_mark(series.mark, px, py, color, point.tip);
    }
    if (series.line && !path.empty())
      svg += fmt::format("<path fill=\"none\" stroke=\"{}\" stroke-width=\"2\" opacity=\"{:g}\"{} d=\"{}\"/>\n", color,
                         series.opacity, series.dashed ? " stroke-dasharray=\"5 4\"" : "", path);
  }
  return svg + dots + "</svg>\n";
}

// Returns the keys of the series with these names, whose colours are 0, 1, 2, ..., as HTML.
inline std::string chart_keys(const std::vector<std::string>& names) {
  std::string html = "<div class=\"keys\">";
  for (std::size_t i = 0; i < names.size(); ++i) html += "<span>" + chart_key(i, names[i]) + "</span>";
  return html + "</div>\n";
}

// Returns a chart below a heading, as HTML. A <div class="grid"> places several side by side.
inline std::string chart_panel(const std::string& heading, const SvgChart& chart) {
  return "<div><h3>" + html_text(heading) + "</h3>\n" + draw_svg(chart) + "</div>";
}

}  // namespace algoperf
