// Reads the list of workloads that are scored. Link with zlib.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../concept.hpp"
#include "csv_rows.hpp"

namespace algoperf {

struct ListedWorkload : ScoredWorkload {
  double max_seconds = NAN;  // the budget of a trial under the external tuning ruleset, NaN if it is not listed
};

// Reads a CSV file with the columns workload, base_workload, metric, direction ("min" or "max") and val_target, and
// optionally a budget in seconds in the column `budget`. Throws Error, naming file, line and column, if the file is
// malformed or lists a workload twice.
inline std::vector<ListedWorkload> read_workloads(const std::string& path,
                                                  const std::string& budget = "max_runtime_s_v05") {
  detail::CsvRows rows(path);
  const std::size_t name = rows.column("workload"), base = rows.column("base_workload"), metric = rows.column("metric"),
                    direction = rows.column("direction"), target = rows.column("val_target"),
                    seconds = rows.find(budget);
  std::vector<ListedWorkload> workloads;
  while (rows.next()) {
    for (const ListedWorkload& other : workloads)
      if (other.name == rows.text(name)) rows.refuse(name, "each workload once");
    if (rows.text(direction) != "min" && rows.text(direction) != "max") rows.refuse(direction, "min or max");
    if (!std::isfinite(rows.number(target))) rows.refuse(target, "a finite number");
    ListedWorkload workload;
    workload.name = rows.name(name);
    workload.base = rows.name(base);
    workload.metric = rows.name(metric);
    workload.target = {.value = rows.number(target), .lower_is_better = rows.text(direction) == "min"};
    if (seconds != rows.none && !rows.text(seconds).empty()) workload.max_seconds = rows.measure(seconds);
    workloads.push_back(workload);
  }
  require(!workloads.empty(), rows.path(), ": lists no workload");
  return workloads;
}

}  // namespace algoperf
