// Reads the data that Shallue et al. 2019 published with arXiv:1811.03600. Link with zlib. Requires nlohmann-json.
//
//   WORKLOAD/<batch size>/study.json                     batch_size, train_steps, ...
//   WORKLOAD/<batch size>/<trial>/metadata.json          trial_id, status, parameters
//   WORKLOAD/<batch size>/<trial>/measurements.csv       step, val/classification_error, ...
//
//   for (const BatchStudy& study : read_batch_studies("batch_science/mnist/simple_cnn_base/sgd",
//                                                     "val/classification_error"))
//     if (const auto result = steps_to_result(study, {0.01}, 100)) std::printf("%zu %llu\n", ...);
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../../scoring/readers/official_logs.hpp"
#include "batch_study.hpp"

namespace algoperf {

namespace detail {

inline nlohmann::ordered_json read_json_object(const std::string& path) {
  std::ifstream file(path);
  require(static_cast<bool>(file), path, ": cannot be opened");
  const auto json = nlohmann::ordered_json::parse(file, nullptr, false);
  require(json.is_object(), path, ": is not a JSON object");
  return json;
}
inline std::uint64_t whole_number(const nlohmann::ordered_json& json, const char* field, const std::string& path) {
  require(json.contains(field) && json[field].is_number_unsigned(), path, ": '", field, "' is not a whole number");
  return json[field].get<std::uint64_t>();
}

inline BatchTrial read_batch_trial(const std::string& folder, const std::string& metric) {
  const std::string path = folder + "/metadata.json";
  const auto json = read_json_object(path);
  BatchTrial trial{.id = whole_number(json, "trial_id", path)};
  const std::string status = json.contains("status") && json["status"].is_string() ? json["status"] : "";
  const bool known = status == "COMPLETE" || status == "INCOMPLETE" || status == "INFEASIBLE";
  require(known, path, ": 'status' is not COMPLETE, INCOMPLETE or INFEASIBLE");
  trial.status = status == "COMPLETE"     ? TrialStatus::complete
                 : status == "INCOMPLETE" ? TrialStatus::incomplete
                                          : TrialStatus::infeasible;
  require(json.contains("parameters") && json["parameters"].is_object(), path, ": 'parameters' is not an object");
  for (const auto& [name, value] : json["parameters"].items()) {
    require(value.is_number() || value.is_boolean() || value.is_string(), path, ": the parameter '", name,
            "' is not a number, a text, true or false");
    if (value.is_boolean())
      trial.point.set(name, value.get<bool>());
    else if (value.is_number())
      trial.point.set(name, value.get<double>());
    else
      trial.point.set(name, value.get<std::string>());
  }

  CsvRows rows(folder + "/measurements.csv");
  const std::size_t step = rows.column("step"), column = rows.column(metric);
  while (rows.next()) {
    const bool empty = rows.text(column).empty();
    trial.measurements.push_back({rows.whole(step), empty ? std::nan("") : rows.number(column)});
    if (const std::size_t n = trial.measurements.size();
        n > 1 && trial.measurements[n - 1].step < trial.measurements[n - 2].step)
      rows.refuse(step, "no fewer steps than in the row before");
  }
  return trial;
}

}  // namespace detail

// Reads a study: one batch size of a workload. `metric` is a column of the trials' measurements; an empty field is NaN.
// Throws Error, naming the file, if one is missing or malformed, or if two trials have one id.
inline BatchStudy read_batch_study(const std::string& folder, const std::string& metric) {
  const std::string path = folder + "/study.json";
  BatchStudy study{
      .batch = static_cast<std::size_t>(detail::whole_number(detail::read_json_object(path), "batch_size", path))};
  require(study.batch > 0, path, ": 'batch_size' is 0");
  std::vector<std::string> ignored;
  for (const detail::NumberedFolder& trial : detail::numbered_folders(folder, "", ignored))
    study.trials.push_back(detail::read_batch_trial(trial.path, metric));
  require(ignored.empty(), ignored.empty() ? "" : ignored.front());
  std::sort(study.trials.begin(), study.trials.end(),
            [](const BatchTrial& a, const BatchTrial& b) { return a.id < b.id; });
  for (std::size_t i = 1; i < study.trials.size(); ++i)
    require(study.trials[i].id != study.trials[i - 1].id, folder, ": two trials have the trial_id ",
            study.trials[i].id);
  return study;
}

// Reads all studies of a workload, in the order of their batch sizes.
inline std::vector<BatchStudy> read_batch_studies(const std::string& folder, const std::string& metric) {
  std::vector<BatchStudy> studies;
  std::vector<std::string> ignored;
  for (const detail::NumberedFolder& study : detail::numbered_folders(folder, "", ignored))
    studies.push_back(read_batch_study(study.path, metric));
  require(ignored.empty(), ignored.empty() ? "" : ignored.front());
  require(!studies.empty(), folder, ": there is no folder of a batch size");
  std::sort(studies.begin(), studies.end(), [](const BatchStudy& a, const BatchStudy& b) { return a.batch < b.batch; });
  return studies;
}

}  // namespace algoperf
