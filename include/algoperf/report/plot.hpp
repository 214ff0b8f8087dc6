// Plots of trials, drawn by gnuplot as SVG and PNG: one line per rule, the median over seeds, with each seed as a
// thin line behind it.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "concept.hpp"
#include "gnuplot.hpp"
#include "spread.hpp"

namespace algoperf {

enum class Against { steps, training_seconds };

namespace detail {

struct PlotPoint {
  double x = 0, y = 0;
};

inline double plot_x(const EvaluationReport& e, Against against) {
  return against == Against::steps ? static_cast<double>(e.step) : e.training_seconds;
}

// Returns the median over seeds at each evaluation that all trials of a rule reached.
inline std::vector<PlotPoint> median_curve(const std::vector<const Trial*>& trials, Against against) {
  std::size_t shared = trials.front()->evaluations.size();
  for (const Trial* t : trials) shared = std::min(shared, t->evaluations.size());
  std::vector<PlotPoint> curve;
  for (std::size_t i = 0; i < shared; ++i) {
    std::vector<double> x, y;
    for (const Trial* t : trials) {
      x.push_back(plot_x(t->evaluations[i], against));
      y.push_back(t->evaluations[i].metric);
    }
    curve.push_back({spread(x).median, spread(y).median});
  }
  return curve;
}

inline std::string data_block(const std::string& name, const std::vector<PlotPoint>& points) {
  std::string text = "$" + name + " << EOD\n";
  for (const PlotPoint& p : points) text += fmt::format("{:.9g} {:.9g}\n", p.x, p.y);
  return text + "EOD\n";
}

// Returns the hexadecimal colour of a rule. Colours repeat after the eighth.
inline const char* color(std::size_t rule) {
  static constexpr const char* colors[] = {"7f7f7f", "1f77b4", "17becf", "d62728",
                                           "2ca02c", "9467bd", "ff7f0e", "8c564b"};
  return colors[rule % 8];
}

// Returns the ticks of a metric's logarithmic axis from `low` to `high`: 1, 2 and 5 times powers of ten. If these are
// fewer than three, returns multiples of the largest of these values that fits three times into the range.
inline std::vector<double> metric_ticks(double low, double high) {
  constexpr double ones[] = {1, 2, 5};
  std::vector<double> ticks;
  double step = 0;
  for (int power = static_cast<int>(std::floor(std::log10(low))) - 3; std::pow(10, power) <= high; ++power)
    for (const double one : ones) {
      const double tick = one * std::pow(10, power);
      if (tick >= low && tick <= high) ticks.push_back(tick);
      if (3 * tick <= high - low) step = tick;
    }
  if (ticks.size() >= 3 || step == 0) return ticks;
  ticks.clear();
  for (double n = std::ceil(low / step); n * step <= high; ++n) ticks.push_back(n * step);
  return ticks;
}

// Returns the gnuplot commands for a metric's axis: logarithmic, with a small margin. `low` is the smallest positive
// value, `high` the largest. Returns an empty string, which leaves the axis linear, if there is no positive value.
inline std::string metric_axis(double low, double high) {
  if (!(low > 0 && low <= high && high < Trial::missed)) return "";
  if (low == high) return "set logscale y\n";
  const double room = std::pow(high / low, 0.03);
  return fmt::format("set logscale y\nset yrange [{:g}:{:g}]\nset ytics ({:g})\n", low / room, high * room,
                     fmt::join(metric_ticks(low, high), ", "));
}

}  // namespace detail

// Writes `stem`.svg and `stem`.png.
inline void plot_metric(const std::string& stem, const std::string& title, const std::vector<Trial>& trials,
                        Against against) {
  require(!trials.empty(), stem, ": there are no trials to draw");
  std::vector<std::string> order;
  std::map<std::string, std::vector<const Trial*>> by_rule;
  const double target = trials.front().target.value;
  std::string metric = "metric";
  double low = target > 0 ? target : Trial::missed, high = target;
  for (const Trial& t : trials) {
    if (t.evaluations.empty()) continue;
    if (by_rule.find(t.rule) == by_rule.end()) order.push_back(t.rule);
    by_rule[t.rule].push_back(&t);
    metric = t.evaluations.front().metric_name;
    for (const EvaluationReport& e : t.evaluations) {
      if (e.metric > 0) low = std::min(low, e.metric);
      if (e.metric < Trial::missed) high = std::max(high, e.metric);
    }
  }
  require(!order.empty(), stem, ": no trial was evaluated");
  std::string data, lines;
  for (std::size_t r = 0; r < order.size(); ++r) {
    const auto& of_rule = by_rule[order[r]];
    for (const Trial* t : of_rule) {
      const std::string name = fmt::format("seed_{}_{}", r, t->seed);
      std::vector<detail::PlotPoint> points;
      for (const EvaluationReport& e : t->evaluations) points.push_back({detail::plot_x(e, against), e.metric});
      data += detail::data_block(name, points);
      lines += fmt::format("${} with lines lw 1 lc rgb '#90{}' notitle, ", name, detail::color(r));
    }
    const std::string name = fmt::format("rule_{}", r);
    data += detail::data_block(name, detail::median_curve(of_rule, against));
    lines += fmt::format("${} with linespoints lw 2.4 pt 7 ps 0.45 lc rgb '#{}' title {} noenhanced, ", name,
                         detail::color(r), detail::quoted(order[r]));
  }
  const std::string script =
      "set title " + detail::quoted(title) +
      " noenhanced\nset grid lc rgb '#dddddd'\nset border 3\nset tics nomirror\n" + detail::metric_axis(low, high) +
      "set key outside right top\nset xlabel '" +
      std::string(against == Against::steps ? "steps" : "training seconds (evaluation is off the clock)") +
      "'\nset ylabel " + detail::quoted("validation " + metric) + "\n" +
      (against == Against::steps ? "set xrange [0:*]\n" : "set logscale x\n") + data + "plot " + lines +
      fmt::format("{} with lines lw 1.2 dt 2 lc rgb 'black' title 'target {:g}'", target, target);
  detail::gnuplot("svg size 900,540 font 'Helvetica,14' background 'white'", stem + ".svg", script);
  detail::gnuplot("pngcairo size 1350,810 font 'Helvetica,15' linewidth 1.5 background 'white'", stem + ".png", script);
}

}  // namespace algoperf
