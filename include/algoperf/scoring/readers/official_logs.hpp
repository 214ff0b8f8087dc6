// Reads the logs that AlgoPerf's harness writes. Link with zlib.
//
//   FOLDER/<submission>/study_<i>/<workload>_<framework>/trial_<j>/measurements.csv
//
// An evaluation is a row with a value in the column `validation/<metric>`. Its step is `global_step`; its training time
// is `score`. Other rows are ignored.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../concept.hpp"
#include "../missing_logs.hpp"
#include "csv_rows.hpp"
#include "workload_list.hpp"

namespace algoperf {

struct OfficialLogs {
  // The base workloads with at least one log, and their variants with at least one log.
  Suite suite;
  std::vector<TrialLog> logs;
  std::vector<std::string> not_in_logs;  // workloads that are listed and have no log
  std::vector<std::string> warnings;     // what is missing, and what was ignored
};

// Reads one measurements.csv of a trial into `log`. Throws Error, naming file, line and column, if a row is malformed,
// or if steps or times fall.
inline void read_measurements(const std::string& path, const std::string& metric, TrialLog& log) {
  detail::CsvRows rows(path);
  const std::size_t value = rows.find("validation/" + metric);
  if (value == rows.none) return;  // the trial ended before its first evaluation
  const std::size_t step = rows.column("global_step"), score = rows.column("score"),
                    training = rows.find("accumulated_submission_time"),
                    evaluation = rows.find("accumulated_eval_time");
  const auto last_finite = [&](std::size_t column, double& seconds) {
    if (column == rows.none || rows.text(column).empty()) return;
    if (const double now = rows.number(column); std::isfinite(now)) seconds = now;
  };
  while (rows.next()) {
    if (rows.text(value).empty()) continue;
    const Evaluation now{log.evaluations.size(), rows.measure(step), rows.measure(score), rows.number(value)};
    if (!log.evaluations.empty()) {
      if (now.step < log.evaluations.back().step) rows.refuse(step, "no fewer steps than in the evaluation before");
      if (now.seconds < log.evaluations.back().seconds)
        rows.refuse(score, "no less time than in the evaluation before");
    }
    log.evaluations.push_back(now);
    last_finite(training, log.training_seconds);
    last_finite(evaluation, log.evaluation_seconds);
  }
}

namespace detail {

// A folder whose name is `prefix` and a whole number.
struct NumberedFolder {
  std::uint64_t number = 0;
  std::string path;
};

inline std::vector<std::filesystem::path> folders_in(const std::string& path) {
  std::error_code error;
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (it->is_directory(error)) found.push_back(it->path());
  require(!error, path, ": cannot be listed (", error.message(), ")");
  std::sort(found.begin(), found.end());
  return found;
}

// Returns the numbered folders in order. Others are ignored with a warning.
inline std::vector<NumberedFolder> numbered_folders(const std::string& path, std::string_view prefix,
                                                    std::vector<std::string>& warnings) {
  std::vector<NumberedFolder> numbered;
  for (const std::filesystem::path& folder : folders_in(path)) {
    const std::string name = folder.filename().string();
    NumberedFolder one{0, folder.string()};
    const char* const begin = name.data() + std::min(prefix.size(), name.size());
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), one.number);
    if (name.starts_with(prefix) && error == std::errc{} && end == name.data() + name.size())
      numbered.push_back(one);
    else
      warnings.push_back(folder.string() + ": is ignored, expected " + std::string(prefix) + "<number>");
  }
  std::sort(numbered.begin(), numbered.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  for (std::size_t i = 1; i < numbered.size(); ++i)
    require(numbered[i].number != numbered[i - 1].number, numbered[i].path, ": has the number of ",
            numbered[i - 1].path);
  return numbered;
}

}  // namespace detail

// Reads all logs of a folder. `trials` is the number of trials that a study should have, 0 if that is not known. A
// submission should have as many studies of a workload as there are different studies in the folder. Throws Error,
// naming the file or folder, if a log is malformed, if a study ran a workload under two frameworks, or if there is no
// log of a base workload.
inline OfficialLogs read_official_logs(const std::string& folder, const std::vector<ListedWorkload>& workloads,
                                       std::size_t trials = 0) {
  OfficialLogs found;
  std::set<std::string> logged;
  std::set<std::uint64_t> studies;
  for (const std::filesystem::path& submission : detail::folders_in(folder))
    for (const detail::NumberedFolder& study :
         detail::numbered_folders(submission.string(), "study_", found.warnings)) {
      std::set<std::string> in_study;
      for (const std::filesystem::path& place : detail::folders_in(study.path)) {
        const std::string name = place.filename().string(), workload = name.substr(0, name.rfind('_'));
        const auto known = std::find_if(workloads.begin(), workloads.end(),
                                        [&](const ListedWorkload& listed) { return listed.name == workload; });
        if (known == workloads.end()) {
          found.warnings.push_back(place.string() + ": is ignored, because '" + workload +
                                   "' is not a listed workload");
          continue;
        }
        require(in_study.insert(workload).second, place.string(), ": '", workload,
                "' has logs of another framework in the same study");
        for (const detail::NumberedFolder& trial : detail::numbered_folders(place.string(), "trial_", found.warnings)) {
          const std::string file = trial.path + "/measurements.csv";
          if (std::error_code none; !std::filesystem::exists(file, none)) {
            found.warnings.push_back(trial.path + ": there is no measurements.csv");
            continue;
          }
          TrialLog log{submission.filename().string(), workload, study.number, trial.number};
          read_measurements(file, known->metric, log);
          if (log.evaluations.empty()) found.warnings.push_back(file + ": there is no evaluation");
          found.logs.push_back(log);
          logged.insert(workload);
          studies.insert(study.number);
        }
      }
    }
  found.suite = {.name = folder, .studies = studies.size(), .trials = trials};
  for (const ListedWorkload& workload : workloads)
    if (logged.contains(workload.name) && logged.contains(workload.base))
      found.suite.workloads.push_back(workload);
    else
      found.not_in_logs.push_back(workload.name);
  require(found.suite.base_count() > 0, folder, ": there is no log of a listed base workload");
  for (const std::string& sentence : missing_logs(found.suite, found.logs)) found.warnings.push_back(sentence);
  return found;
}

}  // namespace algoperf
