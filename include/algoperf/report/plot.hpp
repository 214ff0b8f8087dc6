// Plots by gnuplot, as SVG and PNG: one line a rule, the median over seeds, each seed thin behind it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "../core/atomic_file.hpp"
#include "concept.hpp"

namespace algoperf {

enum class Against { steps, training_seconds };

namespace detail {

struct PlotPoint {
  double x = 0, y = 0;
};

inline double plot_x(const EvaluationReport& e, Against against) {
  return against == Against::steps ? static_cast<double>(e.step) : e.training_seconds;
}

// The median over seeds at each evaluation that all of a rule's trials reached.
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
    std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
    std::nth_element(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(y.size() / 2), y.end());
    curve.push_back({x[x.size() / 2], y[y.size() / 2]});
  }
  return curve;
}

// A gnuplot string: single quotes, doubled within.
inline std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

inline std::string data_block(const std::string& name, const std::vector<PlotPoint>& points) {
  std::string text = "$" + name + " << EOD\n";
  for (const PlotPoint& p : points) text += fmt::format("{:.9g} {:.9g}\n", p.x, p.y);
  return text + "EOD\n";
}

// Hexadecimal, one a rule; they come round again after the eighth.
inline const char* color(std::size_t rule) {
  static constexpr const char* colors[] = {"7f7f7f", "1f77b4", "17becf", "d62728",
                                           "2ca02c", "9467bd", "ff7f0e", "8c564b"};
  return colors[rule % 8];
}

// Draws into a file beside `path`, and moves it there when gnuplot is done. Throws Error if it could not.
inline void gnuplot(const std::string& terminal, const std::string& path, const std::string& script) {
  const std::string temporary = path + ".tmp";
  std::FILE* const pipe = popen("gnuplot 2>/dev/null", "w");
  require(pipe != nullptr, path, ": gnuplot cannot be started");
  const std::string all =
      "set terminal " + terminal + "\nset output " + quoted(temporary) + "\n" + script + "\nset output\n";
  std::fwrite(all.data(), 1, all.size(), pipe);
  const bool drawn = pclose(pipe) == 0 && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!drawn) std::remove(temporary.c_str());
  require(drawn, path, ": gnuplot could not draw it (is gnuplot installed?)");
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
  for (const Trial& t : trials) {
    if (t.evaluations.empty()) continue;
    if (by_rule.find(t.rule) == by_rule.end()) order.push_back(t.rule);
    by_rule[t.rule].push_back(&t);
    metric = t.evaluations.front().metric_name;
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
      " noenhanced\nset grid lc rgb '#dddddd'\nset border 3\nset tics nomirror\nset logscale y\n" +
      "set key outside right top\nset xlabel '" +
      std::string(against == Against::steps ? "steps" : "training seconds (evaluation is off the clock)") +
      "'\nset ylabel " + detail::quoted("validation " + metric) +
      "\nset ytics (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)\n" +
      (against == Against::steps ? "set xrange [0:*]\n" : "set logscale x\n") + data + "plot " + lines +
      fmt::format("{} with lines lw 1.2 dt 2 lc rgb 'black' title 'target {:g}'", target, target);
  detail::gnuplot("svg size 900,540 font 'Helvetica,14' background 'white'", stem + ".svg", script);
  detail::gnuplot("pngcairo size 1350,810 font 'Helvetica,15' linewidth 1.5 background 'white'", stem + ".png", script);
}

}  // namespace algoperf
