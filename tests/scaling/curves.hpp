// The curves of ALGOPERF_DATA/scaling, as tables of text.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "algoperf/scaling/observations.hpp"

// Rows by the names of the header's columns; empty if there is no such file.
inline std::vector<std::map<std::string, std::string>> read_rows(const std::string& name) {
  const char* const root = std::getenv("ALGOPERF_DATA");
  std::ifstream file(std::string(root == nullptr ? "data" : root) + "/scaling/" + name);
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

// 234 runs of Hoffmann et al. 2022, as read off their figure; empty, and a message, without them.
inline std::vector<algoperf::Observation<2>> chinchilla_runs() {
  std::vector<algoperf::Observation<2>> runs;
  for (auto& row : read_rows("chinchilla_subset_apache2.csv"))
    runs.push_back({{std::stod(row["N"]), std::stod(row["D"])}, std::stod(row["loss"])});
  if (runs.empty()) MESSAGE("skipped: ALGOPERF_DATA names no folder with scaling/");
  return runs;
}
