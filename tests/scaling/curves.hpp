// Reads the curves in the folder scaling/ of the test data.
#pragma once

#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../support/data_path.hpp"
#include "algoperf/scaling/fit/observations.hpp"

// Returns the rows of a CSV file, keyed by column name; none, with a message, if there is no such file.
inline std::vector<std::map<std::string, std::string>> read_rows(const std::string& name) {
  std::ifstream file(data_path("scaling/" + name));
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::vector<std::string> values;
    for (std::string field; std::getline(fields, field, ',');) values.push_back(field);
    if (names.empty()) {
      names = values;
      continue;
    }
    rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) rows.back()[names[i]] = values.at(i);
  }
  return rows;
}

// 234 runs of Hoffmann et al. 2022, digitised from their figure.
inline std::vector<algoperf::Observation<2>> chinchilla_runs() {
  std::vector<algoperf::Observation<2>> runs;
  for (auto& row : read_rows("chinchilla_subset_apache2.csv"))
    runs.push_back({{std::stod(row["N"]), std::stod(row["D"])}, std::stod(row["loss"])});
  return runs;
}
