// Writes trials as JSON: settings, summaries and every trial. A missed target is null.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../state/atomic_file.hpp"
#include "summary.hpp"

namespace algoperf {

namespace detail {

inline nlohmann::json or_null(double x) { return x < Trial::missed ? nlohmann::json(x) : nlohmann::json(nullptr); }

inline nlohmann::json to_json(const Spread& s) {
  return {{"median", or_null(s.median)}, {"low", or_null(s.low)}, {"high", or_null(s.high)}};
}

inline nlohmann::json to_json(const Trial& trial) {
  nlohmann::json json{
      {"rule", trial.rule},
      {"seed", trial.seed},
      {"steps", trial.run.last.now.t},
      {"ended", describe(trial.run.reason)},
      {"diverged_at_step", trial.run.diverged_at() > 0 ? nlohmann::json(trial.run.diverged_at()) : nullptr},
      {"steps_to_target", or_null(trial.steps_to_target())},
      {"training_seconds_to_target", or_null(trial.seconds_to_target())},
      {"training_seconds", trial.run.last.training_seconds},
      {"evaluation_seconds", trial.run.evaluation_seconds},
      {"best_metric", trial.run.evaluated ? nlohmann::json(trial.run.best.metric) : nullptr}};
  if (!trial.failure.empty()) json["failure"] = trial.failure;
  return json;
}

}  // namespace detail

inline void write_json(const std::string& path, const nlohmann::json& settings, const std::vector<Trial>& trials) {
  nlohmann::json json{
      {"settings", settings}, {"summaries", nlohmann::json::array()}, {"trials", nlohmann::json::array()}};
  for (const Summary& s : summarize(trials))
    json["summaries"].push_back({{"rule", s.rule},
                                 {"trials", s.trials},
                                 {"reached", s.reached},
                                 {"diverged_at_steps", s.diverged},
                                 {"steps_to_target", detail::to_json(s.steps)},
                                 {"training_seconds_to_target", detail::to_json(s.seconds)},
                                 {"evaluation_seconds", detail::to_json(s.evaluation_seconds)},
                                 {"best_metric", detail::to_json(s.best_metric)},
                                 {"ratio", detail::or_null(s.ratio)}});
  for (const Trial& trial : trials) json["trials"].push_back(detail::to_json(trial));
  write_file(path, json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace algoperf
