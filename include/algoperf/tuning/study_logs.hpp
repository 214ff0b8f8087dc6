// The records of a study as logs: in memory for scores, and as files in AlgoPerf's layout. Requires nlohmann-json.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../scoring/time_to_target.hpp"
#include "../state/atomic_file.hpp"
#include "search_space_json.hpp"
#include "study_record.hpp"

namespace algoperf {

// Returns the records as logs, for scores. A diverged trial keeps the evaluations made before it diverged. A trial that
// threw or crashed has none.
inline std::vector<TrialLog> trial_logs(const std::vector<StudyRecord>& records) {
  std::vector<TrialLog> logs;
  for (const StudyRecord& record : records) {
    const TrialResult& result = record.result;
    TrialLog log{.submission = record.submission,
                 .workload = record.workload,
                 .study = record.study,
                 .trial = record.trial,
                 .training_seconds = result.training_seconds,
                 .evaluation_seconds = result.evaluation_seconds};
    for (const TrialEvaluation& e : result.evaluations)
      log.evaluations.push_back({.index = log.evaluations.size(),
                                 .step = static_cast<double>(e.step),
                                 .seconds = e.training_seconds,
                                 .metric = e.metric,
                                 .examples = static_cast<double>(e.examples),
                                 .flops = e.flops});
    logs.push_back(std::move(log));
  }
  return logs;
}

// Writes the records in the layout of AlgoPerf's logs, which score_leaderboard --logs and AlgoPerf's own scorer read:
//   FOLDER/<submission>/study_<i>/<workload>_algoperf/trial_<j>/measurements.csv and hparams.json
// with studies from 0 and trials from 1. Existing files are replaced. Throws Error if a file cannot be written, and
// std::filesystem::filesystem_error if a folder cannot be made.
inline void write_official_logs(const std::string& folder, const std::vector<StudyRecord>& records) {
  for (const StudyRecord& record : records) {
    const std::string place = folder + "/" + record.submission + "/study_" + std::to_string(record.study) + "/" +
                              record.workload + "_algoperf/trial_" + std::to_string(record.trial + 1);
    std::filesystem::create_directories(place);
    std::string rows =
        "accumulated_eval_time,accumulated_logging_time,accumulated_submission_time,global_step,preemption_count,score,"
        "total_duration,validation/" +
        record.metric + ",validation/loss\n";
    for (const TrialEvaluation& e : record.result.evaluations) {
      char row[256];
      std::snprintf(row, sizeof row, "%.17g,0,%.17g,%llu,0,%.17g,%.17g,%.17g,%.17g\n", e.evaluation_seconds,
                    e.training_seconds, static_cast<unsigned long long>(e.step), e.training_seconds,
                    e.training_seconds + e.evaluation_seconds, e.metric, e.loss);
      rows += row;
    }
    write_file(place + "/measurements.csv", rows);
    write_file(place + "/hparams.json",
               to_json(record.point).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
}

}  // namespace algoperf
