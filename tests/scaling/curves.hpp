// The curves of ALGOPERF_DATA/scaling, as tables of text.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

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
