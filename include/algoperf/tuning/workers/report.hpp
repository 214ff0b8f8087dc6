// The report of a study of workers: tables and findings as text, a CSV file, and a self-contained HTML page. Requires
// fmt and nlohmann-json.
#pragma once

#include <fmt/format.h>

#include <algorithm>
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

inline std::vector<std::vector<std::string>> worker_rows(const WorkerView& view) {
  std::vector<std::vector<std::string>> rows{{"workers"}};
  for (const char* const kind : {"tuned", "untuned"})
    for (const WorkerCurve* const curve : view.curves) rows[0].push_back(fmt::format("{}, {}", curve->combiner, kind));
  std::vector<std::size_t> workers;
  for (const WorkerCurve* const curve : view.curves)
    for (const auto* const measurements : {&curve->tuned, &curve->untuned})
      for (const WorkerMeasurement& measurement : *measurements) workers.push_back(measurement.workers);
  std::sort(workers.begin(), workers.end());
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  for (const std::size_t count : workers) {
    rows.push_back({fmt::format("{}", count)});
    for (const bool tuned : {true, false})
      for (const WorkerCurve* const curve : view.curves) {
        const WorkerMeasurement* const measured = with_workers(tuned ? curve->tuned : curve->untuned, count);
        rows.back().push_back(measured == nullptr ? "" : steps_text(steps_to_target(*measured, view.target())));
      }
  }
  return rows;
}

}  // namespace detail

// Returns the steps to the target by number of workers, with the range over seeds, and the findings.
inline std::string format_worker_scaling(const std::vector<WorkerCurve>& curves,
                                         const WorkerReportOptions& options = {}) {
  std::string text;
  for (const detail::WorkerView& view : detail::worker_views(curves))
    text += fmt::format("{}: steps to {} {:g}, median (range)\n{}\n", view.heading(), view.workload().metric,
                        view.target().value, format_table(detail::worker_rows(view)));
  for (const std::string& finding : worker_findings(curves, options)) text += finding + "\n";
  return text;
}

// Returns all runs as CSV: workload, submission, combiner, workers, tuned, run, steps, metric, point. A run that misses
// the target has no steps; the metric is its best, and missing without evaluations; the point is a JSON object.
inline std::string worker_scaling_csv(const std::vector<WorkerCurve>& curves) {
  std::string csv = "workload,submission,combiner,workers,tuned,run,steps,metric,point\n";
  for (const WorkerCurve& curve : curves)
    for (const bool tuned : {true, false})
      for (const WorkerMeasurement& measurement : tuned ? curve.tuned : curve.untuned) {
        const std::vector<double> steps = steps_of_runs(measurement, curve.workload.target);
        const std::vector<double> metrics = best_of_runs(measurement, curve.workload.target);
        for (std::size_t run = 0; run < steps.size(); ++run)
          csv +=
              fmt::format("{},{},{},{},{:d},{},{},{},{}\n", detail::csv_field(curve.workload.name),
                          detail::csv_field(curve.submission), detail::csv_field(curve.combiner), measurement.workers,
                          tuned, run, std::isfinite(steps[run]) ? fmt::format("{:g}", steps[run]) : std::string(),
                          std::isfinite(metrics[run]) ? fmt::format("{:.6g}", metrics[run]) : std::string(),
                          detail::csv_field(to_json(measurement.point).dump()));
      }
  return csv;
}

// Writes the page: findings, and for each submission and workload the steps to the target and the best metric by number
// of workers; then the orthogonality and the errors against sequential steps, if they were measured. Throws Error if it
// cannot write the file.
inline void write_worker_report(const std::string& path, const std::string& title,
                                const std::vector<WorkerCurve>& curves, const WorkerReportOptions& options = {}) {
  std::string findings = "<ul>";
  for (const std::string& finding : worker_findings(curves, options))
    findings += "<li>" + html_text(finding) + "</li>\n";
  std::string body =
      "<h1>" + html_text(title) + "</h1>\n" +
      html_section("Findings", "Medians over seeds, after a search of hyperparameters.", findings + "</ul>");
  for (const detail::WorkerView& view : detail::worker_views(curves)) {
    auto rows = detail::worker_rows(view);
    for (auto& row : rows)
      for (std::string& cell : row) cell = html_text(cell);
    body += "<h2>" + html_text(view.heading()) + "</h2>\n" + html_table(rows) + detail::worker_steps_section(view) +
            detail::worker_metric_section(view);
  }
  body += detail::orthogonality_section(options.orthogonality) + detail::sequential_section(options.sequential);
  write_html(path, title, body);
}

}  // namespace algoperf
