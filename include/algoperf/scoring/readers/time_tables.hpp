// Reads tables of times to target, as papers print them. Link with zlib.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../score_grid.hpp"
#include "csv_rows.hpp"

namespace algoperf {

// Reads a CSV file with the columns `clock`, `submission` and one per workload, whose fields are times or `inf` for a
// miss; an empty field means that there is no result. The column `published_score` is ignored. Returns a table per
// clock, in the order in which the clocks appear, named after the clock. Throws Error, naming file, line and column, if
// a row is malformed or lists a submission twice.
inline std::vector<TimeTable> read_time_tables(const std::string& path) {
  detail::CsvRows rows(path);
  const std::size_t clock = rows.column("clock"), submission = rows.column("submission");
  std::vector<std::size_t> columns;
  std::vector<ScoredWorkload> workloads;
  for (std::size_t c = 0; c < rows.names().size(); ++c) {
    const std::string& name = rows.names()[c];
    if (c == clock || c == submission || name == "published_score") continue;
    columns.push_back(c);
    workloads.push_back({.name = name, .base = name, .metric = {}});
  }
  require(!columns.empty(), path, ":1: there is no column of a workload");
  std::vector<TimeTable> tables;
  while (rows.next()) {
    std::size_t t = 0;
    while (t < tables.size() && tables[t].suite.name != rows.name(clock)) ++t;
    if (t == tables.size()) tables.push_back({Suite{.name = rows.text(clock), .workloads = workloads}, {}});
    TimeTable& table = tables[t];
    for (const std::string& other : table.submissions)
      if (other == rows.name(submission)) rows.refuse(submission, "each submission once per clock");
    table.submissions.push_back(rows.name(submission));
    for (const std::size_t column : columns) {
      const double time = rows.text(column).empty() ? NAN : rows.number(column);
      if (time <= 0 || (std::isnan(time) && !rows.text(column).empty())) rows.refuse(column, "a time above 0, or inf");
      table.entries.push_back(time);
    }
  }
  require(!tables.empty(), path, ": there are no rows after the header");
  return tables;
}

}  // namespace algoperf
