// The charts of a report on batch sizes: the six kinds of Shallue et al. 2019. Requires fmt.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../../../report/html.hpp"
#include "../../../report/svg_chart.hpp"
#include "../../point_text.hpp"
#include "view.hpp"

namespace algoperf::detail {

inline SvgChart batch_size_chart(const char* y) { return {.x = "batch size", .y = y, .log_x = true, .log_y = true}; }
inline std::vector<std::string> names_of(const BatchSizeView& view) {
  std::vector<std::string> names;
  for (const BatchScaling* const scaling : view.scalings) names.push_back(scaling->submission);
  return names;
}
// The lines of a point below the first line of a tip.
inline std::string point_lines(const HyperPoint& point) { return "\n" + point_text(point, "\n"); }

// Adds the measured steps, or a value of them, and from the first point a dashed line of perfect scaling.
template <class Value>
void add_steps(SvgChart& chart, const ScalingCurve& curve, const std::string& name, std::size_t color, bool perfect,
               const Value& value) {
  SvgChart::Series measured{.color = color, .mark = SvgMark::disc},
      ideal{.color = color, .dashed = true, .opacity = 0.6};
  for (std::size_t b = 0; b < curve.batches.size(); ++b) {
    if (!curve.results[b]) continue;
    const double x = static_cast<double>(curve.batches[b]);
    measured.points.push_back(
        {x, value(b),
         fmt::format("{}, batch size {}\n{} steps, {:.4g} examples{}", name, curve.batches[b], curve.results[b]->step,
                     curve.examples(b), point_lines(curve.results[b]->point))});
    ideal.points.push_back({x, measured.points.front().y * measured.points.front().x / x});
  }
  chart.series.push_back(std::move(measured));
  if (perfect) chart.series.push_back(std::move(ideal));
}

inline std::string steps_section(const BatchSizeView& view) {
  SvgChart chart = batch_size_chart("steps to the target"), fits = batch_size_chart("steps to the target");
  SvgChart epochs = batch_size_chart("epochs to the target");
  for (std::size_t s = 0; s < view.scalings.size(); ++s) {
    const ScalingCurve& curve = view.curves[s];
    const std::string& name = view.scalings[s]->submission;
    add_steps(chart, curve, name, s, true, [&](std::size_t b) { return curve.steps(b); });
    add_steps(epochs, curve, name, s, false,
              [&](std::size_t b) { return curve.examples(b) / static_cast<double>(view.scalings[s]->examples); });
    SvgChart::Series dots{.color = s, .line = false, .mark = SvgMark::disc}, law{.color = s};
    for (std::size_t b = 0; b < curve.batches.size(); ++b) {
      const double x = static_cast<double>(curve.batches[b]);
      if (curve.results[b]) dots.points.push_back({x, curve.steps(b)});
      if (curve.critical_batch)
        law.points.push_back({x, curve.least_steps->value * (1 + curve.critical_batch->value / x)});
    }
    fits.series.push_back(std::move(dots));
    fits.series.push_back(std::move(law));
  }
  return html_section(
      "Steps and epochs to the target",
      "The fewest steps over all trials of a batch size. Dashed: perfect scaling from the smallest batch "
      "size, where twice the batch needs half the steps. Second: the fit S = Smin (1 + Bcrit / B).",
      chart_keys(names_of(view)) + "<div class=\"grid\">" + chart_panel("Steps", chart) + chart_panel("The fit", fits) +
          chart_panel("Epochs", epochs) + "</div>");
}

inline std::string goals_section(const BatchSizeView& view) {
  if (view.options.easier_goals.empty()) return "";
  std::vector<std::string> names{fmt::format("{:g} (target)", view.workload().target.value)};
  for (const double goal : view.options.easier_goals) names.push_back(fmt::format("{:g}", goal));
  std::string panels;
  for (std::size_t s = 0; s < view.scalings.size(); ++s) {
    SvgChart chart = batch_size_chart("steps to the goal");
    for (std::size_t g = 0; g < names.size(); ++g) {
      const ScalingCurve& curve = g == 0 ? view.curves[s] : view.other_curves[s][g - 1];
      add_steps(chart, curve, names[g], g, true, [&](std::size_t b) { return curve.steps(b); });
    }
    panels += chart_panel(view.scalings[s]->submission, chart);
  }
  return html_section("Several goals",
                      "The validation " + html_text(view.workload().metric) + " that counts as reached.",
                      chart_keys(names) + "<div class=\"grid\">" + panels + "</div>");
}

inline std::string rates_section(const BatchSizeView& view) {
  std::string panels;
  for (std::size_t s = 0; s < view.scalings.size(); ++s) {
    const ScalingCurve& curve = view.curves[s];
    SvgChart chart = batch_size_chart(has_momentum(*view.scalings[s]) ? "best learning rate / (1 - momentum)"
                                                                      : "best learning rate");
    SvgChart::Series best{.color = s, .mark = SvgMark::disc}, linear{.color = 8, .dashed = true},
        root{.color = 9, .dashed = true};
    for (std::size_t b = 0; b < curve.batches.size(); ++b) {
      if (!curve.results[b] || !curve.results[b]->point.has("learning_rate")) continue;
      const double x = static_cast<double>(curve.batches[b]);
      best.points.push_back({x, effective_learning_rate(curve.results[b]->point),
                             fmt::format("batch size {}{}", curve.batches[b], point_lines(curve.results[b]->point))});
      const SvgChart::Point& first = best.points.front();
      linear.points.push_back({x, first.y * x / first.x, "linear"});
      root.points.push_back({x, first.y * std::sqrt(x / first.x), "square root"});
    }
    chart.series = {std::move(linear), std::move(root), std::move(best)};
    panels += chart_panel(view.scalings[s]->submission, chart);
  }
  return html_section("Best effective learning rate",
                      "Of the trial with the fewest steps. Dashed: the linear and the square root heuristic, from the "
                      "smallest batch size.",
                      "<div class=\"grid\">" + panels + "</div>");
}

// The hyperparameter that is drawn against the learning rate, or "" if there is no other.
inline std::string second_hyperparameter(const BatchScaling& scaling) {
  for (const Hyperparameter& each : scaling.space.hyperparameters())
    if (each.name != "learning_rate" && each.feasible.empty()) return each.name;
  return "";
}
inline std::string scatter_panel(const BatchSizeView& view, std::size_t s, std::size_t b) {
  const BatchScaling& scaling = *view.scalings[s];
  const BatchStudy& study = scaling.studies[b];
  const std::string second = second_hyperparameter(scaling);
  const auto best_metric = [&](const BatchTrial& trial) {
    double best = NAN;
    for (const auto& m : trial.measurements)
      if (std::isnan(best) || better(m.metric, best, scaling.workload.target.lower_is_better)) best = m.metric;
    return best;
  };
  SvgChart chart{.x = "learning rate",
                 .y = second.empty() ? "best " + scaling.workload.metric : second,
                 .log_x = true,
                 .log_y = true,
                 .width = 260,
                 .height = 220};
  SvgChart::Series reached{.color = s, .line = false, .mark = SvgMark::disc},
      missed{.color = s, .line = false, .mark = SvgMark::ring},
      diverged{.color = 8, .line = false, .mark = SvgMark::cross},
      best{.color = 3, .line = false, .mark = SvgMark::star};
  const std::optional<BatchResult>& chosen = view.curves[s].results[b];
  for (const BatchTrial& trial : study.trials) {
    if (!trial.point.has("learning_rate")) continue;
    const bool hit = std::any_of(trial.measurements.begin(), trial.measurements.end(),
                                 [&](const auto& m) { return scaling.goal().reached_by(m.metric); });
    const double metric = best_metric(trial);
    const SvgChart::Point point{
        trial.point["learning_rate"], second.empty() ? metric : trial.point[second],
        fmt::format("trial {}, best {} {:.4g}{}", trial.id, scaling.workload.metric, metric, point_lines(trial.point))};
    auto& series = trial.status != TrialStatus::complete ? diverged
                   : chosen && trial.id == chosen->trial ? best
                   : hit                                 ? reached
                                                         : missed;
    series.points.push_back(point);
  }
  chart.series = {std::move(diverged), std::move(missed), std::move(reached), std::move(best)};
  return chart_panel(fmt::format("batch size {}", study.batch), chart);
}
inline std::string scatter_section(const BatchSizeView& view, std::size_t s) {
  std::string panels;
  for (std::size_t b = 0; b < view.scalings[s]->studies.size(); ++b) panels += scatter_panel(view, s, b);
  return html_section(
      "Search of " + view.scalings[s]->submission,
      "Discs: the target was reached. Rings: it was not. Crosses: the trial diverged or failed. The star "
      "has the fewest steps.",
      "<div class=\"grid\">" + panels + "</div>");
}

// The best metric by batch size, a curve for each of four budgets that every batch size had.
inline std::string budgets_section(const BatchSizeView& view) {
  std::string panels;
  for (const bool of_steps : {true, false})
    for (std::size_t s = 0; s < view.scalings.size(); ++s) {
      const BatchScaling& scaling = *view.scalings[s];
      double whole = HUGE_VAL;
      for (std::size_t b = 0; b < scaling.studies.size(); ++b)
        whole = std::fmin(whole, static_cast<double>(scaling.budgets[b]) *
                                     (of_steps ? 1 : static_cast<double>(scaling.studies[b].batch)));
      SvgChart chart = batch_size_chart("");
      chart.y = "best validation " + scaling.workload.metric;
      chart.lines = {scaling.workload.target.value};
      for (std::size_t i = 0; i < 4; ++i) {
        const double budget = std::floor(whole / std::pow(4, static_cast<double>(i)));
        SvgChart::Series series{.color = i, .mark = SvgMark::disc};
        for (const BatchStudy& study : scaling.studies) {
          if (study.count(TrialStatus::complete) == 0) continue;
          const auto best = best_result(study, scaling.workload.target.lower_is_better,
                                        of_steps ? BatchBudget{.steps = budget} : BatchBudget{.examples = budget});
          if (best)
            series.points.push_back({static_cast<double>(study.batch), best->metric,
                                     fmt::format("{:.0f} {}, batch size {}\n{} {:.4g} at step {}{}", budget,
                                                 of_steps ? "steps" : "examples", study.batch, scaling.workload.metric,
                                                 best->metric, best->step, point_lines(best->point))});
        }
        chart.series.push_back(std::move(series));
      }
      panels += chart_panel(fmt::format("{}: {:.0f}, a fourth, a 16th and a 64th of these {}", scaling.submission,
                                        whole, of_steps ? "steps" : "examples"),
                            chart);
    }
  return html_section("Best metric within a budget",
                      "Budgets of steps favour large batches, budgets of examples small ones. Dashed: the target, at "
                      "which trials end unless they were told to use their whole budgets.",
                      "<div class=\"grid\">" + panels + "</div>");
}

}  // namespace algoperf::detail
