// StudyRecord: a finished trial of a study, and its form in the journal. Requires nlohmann-json.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "search_space.hpp"
#include "trial_result.hpp"

namespace algoperf {

// A finished trial.
struct StudyRecord {
  std::string submission, workload;
  std::size_t study = 0, trial = 0;  // from 0
  HyperPoint point;
  std::string metric;     // of the workload
  std::string processor;  // on which the trial ran
  std::size_t jobs = 1;   // trials that ran at a time
  TrialResult result;
};

namespace detail {

// A NaN becomes null.
inline nlohmann::ordered_json to_json(const TrialResult& result) {
  nlohmann::ordered_json evaluations = nlohmann::ordered_json::array();
  for (const TrialEvaluation& e : result.evaluations)
    evaluations.push_back({e.step, e.training_seconds, e.evaluation_seconds, e.loss, e.metric, e.examples, e.flops});
  return {{"steps", result.steps},
          {"examples", result.examples},
          {"flops", result.flops},
          {"training_seconds", result.training_seconds},
          {"evaluation_seconds", result.evaluation_seconds},
          {"first_step_seconds", result.first_step_seconds},
          {"total_seconds", result.total_seconds},
          {"reached", result.reached},
          {"failure", result.failure},
          {"evaluations", evaluations}};
}

// Returns the result that to_json wrote; other fields of `json` are ignored. Throws
// nlohmann::ordered_json::exception if a field is missing or has another type.
inline TrialResult trial_result(const nlohmann::ordered_json& json) {
  const auto number = [](const nlohmann::ordered_json& value) {  // JSON has no NaN: it was written as null
    return value.is_null() ? NAN : value.get<double>();
  };
  TrialResult result;
  result.steps = json.at("steps").get<std::uint64_t>();
  result.examples = json.at("examples").get<std::uint64_t>();
  result.flops = number(json.at("flops"));
  result.training_seconds = number(json.at("training_seconds"));
  result.evaluation_seconds = number(json.at("evaluation_seconds"));
  result.first_step_seconds = number(json.at("first_step_seconds"));
  result.total_seconds = number(json.at("total_seconds"));
  result.reached = json.at("reached").get<bool>();
  result.failure = json.at("failure").get<std::string>();
  for (const nlohmann::ordered_json& e : json.at("evaluations"))
    result.evaluations.push_back({{.step = e.at(0).get<std::uint64_t>(),
                                   .loss = number(e.at(3)),
                                   .metric = number(e.at(4)),
                                   .training_seconds = number(e.at(1)),
                                   .evaluation_seconds = number(e.at(2))},
                                  e.at(5).get<std::uint64_t>(),
                                  number(e.at(6))});
  return result;
}

}  // namespace detail

}  // namespace algoperf
