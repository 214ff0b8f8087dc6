// Suites and logs made up for tests.
#pragma once

#include <string>
#include <vector>

#include "algoperf/scoring/concept.hpp"

inline algoperf::ScoredWorkload scored_workload(const std::string& name, const std::string& base = {}) {
  return {.name = name, .base = base.empty() ? name : base, .metric = "loss", .target = {.value = 1}};
}

// A suite of base workloads a, b, ... and of variants such as a_wide, whose base is the part before the underscore.
inline algoperf::Suite suite_of(const std::vector<std::string>& names) {
  algoperf::Suite suite{.name = "suite"};
  for (const std::string& name : names)
    suite.workloads.push_back(scored_workload(name, name.substr(0, name.find('_'))));
  return suite;
}
