// The report of a study of batch sizes: a table and findings as text, a CSV file, and a self-contained HTML page.
// Requires fmt and nlohmann-json.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../../report/csv.hpp"
#include "../../report/html.hpp"
#include "../../report/table.hpp"
#include "../search_space_json.hpp"
#include "report/charts.hpp"
#include "report/findings.hpp"
#include "report/view.hpp"

namespace algoperf {

namespace detail {

inline std::vector<std::vector<std::string>> escaped(std::vector<std::vector<std::string>> rows) {
  for (auto& row : rows)
    for (std::string& cell : row) cell = html_text(cell);
  return rows;
}

inline std::vector<std::vector<std::string>> steps_rows(const BatchSizeView& view) {
  std::vector<std::vector<std::string>> rows{{"batch size"}};
  for (const BatchScaling* const scaling : view.scalings) {
    rows[0].push_back(scaling->submission);
    rows[0].push_back("epochs");
    rows[0].push_back("trials");
  }
  for (std::size_t b = 0; b < view.scalings.front()->studies.size(); ++b) {
    rows.push_back({fmt::format("{}", view.scalings.front()->studies[b].batch)});
    for (std::size_t s = 0; s < view.scalings.size(); ++s) {
      const ScalingCurve& curve = view.curves[s];
      const BatchStudy& study = view.scalings[s]->studies[b];
      const double epochs = curve.examples(b) / static_cast<double>(view.scalings[s]->examples);
      rows.back().push_back(curve.results[b] ? fmt::format("{}", curve.results[b]->step) : "missed");
      rows.back().push_back(curve.results[b] ? fmt::format("{:.3g}", epochs) : "");
      rows.back().push_back(fmt::format("{} + {}", study.count(TrialStatus::complete),
                                        study.trials.size() - study.count(TrialStatus::complete)));
    }
  }
  return rows;
}

}  // namespace detail

// Returns the fewest steps to the target by batch size, with the complete and the other trials, and the findings.
inline std::string format_batch_scaling(const std::vector<BatchScaling>& found,
                                        const BatchSizeReportOptions& options = {}) {
  std::string text;
  for (const detail::BatchSizeView& view : detail::batch_size_views(found, options))
    text += fmt::format("Steps to {} {:g} on {}\n{}\n", view.workload().metric, view.workload().target.value,
                        view.workload().name, format_table(detail::steps_rows(view)));
  for (const std::string& finding : batch_size_findings(found, options)) text += finding + "\n";
  return text;
}

// Returns the fewest steps to each goal as CSV: workload, submission, batch_size, goal, steps, metric, trial, point. A
// goal that no trial reached has empty fields; the point is a JSON object.
inline std::string batch_scaling_csv(const std::vector<BatchScaling>& found,
                                     const BatchSizeReportOptions& options = {}) {
  std::string csv = "workload,submission,batch_size,goal,steps,metric,trial,point\n";
  const auto add = [&](const BatchScaling& scaling, const ScalingCurve& curve) {
    for (std::size_t b = 0; b < curve.batches.size(); ++b) {
      csv += fmt::format("{},{},{},{},", detail::csv_field(scaling.workload.name),
                         detail::csv_field(scaling.submission), curve.batches[b], curve.goal.value);
      if (!curve.results[b]) {
        csv += ",,,\n";
        continue;
      }
      csv += fmt::format("{},{:.6g},{},{}\n", curve.results[b]->step, curve.results[b]->metric, curve.results[b]->trial,
                         detail::csv_field(to_json(curve.results[b]->point).dump()));
    }
  };
  for (const detail::BatchSizeView& view : detail::batch_size_views(found, options))
    for (std::size_t s = 0; s < view.scalings.size(); ++s) {
      add(*view.scalings[s], view.curves[s]);
      for (const ScalingCurve& curve : view.other_curves[s]) add(*view.scalings[s], curve);
    }
  return csv;
}

// Writes the page: findings, steps and epochs by batch size with the fit, steps to several goals, the best learning
// rates, the search at each batch size, and the best metrics within budgets. Throws Error if it cannot write the file.
inline void write_batch_size_report(const std::string& path, const std::string& title,
                                    const std::vector<BatchScaling>& found,
                                    const BatchSizeReportOptions& options = {}) {
  std::string findings = "<ul>";
  for (const std::string& finding : batch_size_findings(found, options))
    findings += "<li>" + html_text(finding) + "</li>\n";
  std::string body = "<h1>" + html_text(title) + "</h1>\n" +
                     html_section("Findings",
                                  "Each point is the best trial of a search. Intervals reflect the scatter of the "
                                  "points about the curve. Minima over few trials are biased upwards.",
                                  findings + "</ul>");
  for (const detail::BatchSizeView& view : detail::batch_size_views(found, options)) {
    body += "<h2>" + html_text(view.workload().name) + "</h2>\n";
    body += html_section("Steps to the target",
                         fmt::format("A validation {} of {:g}. Trials: complete + diverged or failed.",
                                     html_text(view.workload().metric), view.workload().target.value),
                         html_table(detail::escaped(detail::steps_rows(view))));
    body += detail::steps_section(view) + detail::goals_section(view) + detail::rates_section(view);
    for (std::size_t s = 0; s < view.scalings.size(); ++s) body += detail::scatter_section(view, s);
    body += detail::budgets_section(view);
  }
  write_html(path, title, body);
}

}  // namespace algoperf
