// tune: searches hyperparameters of any function. Requires nlohmann-json; POSIX only.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "../core/target.hpp"
#include "journal.hpp"
#include "median_rule.hpp"
#include "search_space.hpp"
#include "search_space_json.hpp"
#include "worker_pool.hpp"

namespace algoperf {

struct TuneOptions {
  std::size_t trials = 20;
  std::uint64_t seed = 0;
  Search search = Search::halton;
  std::size_t jobs = 1;  // trials at a time, each in a process forked from this one; 0: in this process
  bool lower_is_better = true;
  std::string journal = {};  // a file for the results; if it exists, the search continues. Empty: none
  bool sync = false;         // fsync the journal after each trial
  std::optional<MedianRule> median_rule = {};  // ends hopeless trials, if the function reports its progress
  std::string function = {};  // describes the function: the journal keeps it, and refuses a search with another
};

struct TunedTrial {
  std::uint64_t trial = 0;
  HyperPoint point;
  double value = std::numeric_limits<double>::quiet_NaN();  // NaN if the trial failed
  double seconds = 0;
  std::string failure = {};  // why there is no value, or empty
  bool hopeless = false;     // the median rule ended it
};

struct Tuning {
  std::vector<TunedTrial> trials;  // in the order of the points
  bool lower_is_better = true;

  // Returns the trial with the best value, the first of several; hopeless trials do not count. Throws Error if every
  // trial failed.
  const TunedTrial& best() const {
    const TunedTrial* best = nullptr;
    for (const TunedTrial& trial : trials)
      if (!std::isnan(trial.value) && !trial.hopeless &&
          (best == nullptr || better(trial.value, best->value, lower_is_better)))
        best = &trial;
    require(best != nullptr, "tune: all ", trials.size(), " trials failed",
            trials.empty() ? "" : "; the first: " + trials.front().failure);
    return *best;
  }
};

// Calls function(point), which returns a number, for `trials` points of the space, and returns all results:
//   const Tuning found = tune(space, {.trials = 20, .jobs = 2}, [](const HyperPoint& point) { ...; return error; });
//   use(found.best().point);
// A trial fails, and the search goes on, if the function throws, crashes, or returns NaN or an infinity. With a
// journal, a search that was killed continues without repeating a finished trial, and a search with more trials
// continues one with fewer. A journal of a search with another space, seed, point sequence, median rule or `function`
// is refused. A journal knows the function only by TuneOptions::function, so a change of the code is not detected. A
// failure is final: to repeat a trial, delete its line from the journal. See run_in_processes for what processes share.
// With a median rule, the function is function(point, TrialProgress& progress). It calls progress.report(step, value)
// as it trains, and ends when that returns true. Which trials are hopeless depends on which have ended: with several
// jobs, on their speed. A benchmark has no such rule: see Study.
template <class Function>
Tuning tune(const SearchSpace& space, const TuneOptions& options, const Function& function) {
  using Json = nlohmann::ordered_json;
  constexpr bool reports_progress = std::is_invocable_v<const Function&, const HyperPoint&, TrialProgress&>;
  require(!options.median_rule || reports_progress,
          "tune: median_rule needs a function of a point and of a TrialProgress&, to which it reports");
  const MedianRule rule = options.median_rule.value_or(MedianRule{});
  rule.check();
  const std::vector<HyperPoint> points = search_points(space, options.trials, options.seed, options.search);
  Tuning found{{}, options.lower_is_better};
  for (std::size_t i = 0; i < points.size(); ++i) found.trials.push_back({.trial = i, .point = points[i]});

  std::optional<Journal> journal;
  if (!options.journal.empty()) {
    constexpr const char* searches[] = {"halton", "sobol", "random", "official"};
    Json settings{{"search", searches[static_cast<std::size_t>(options.search)]},
                  {"seed", options.seed},
                  {"space", to_json(space)}};
    if (!options.function.empty()) settings["function"] = options.function;
    if (options.median_rule)
      settings["median_rule"] = {{"least_trials", options.median_rule->least_trials},
                                 {"first_step", options.median_rule->first_step}};
    journal.emplace(options.journal, settings, JournalOptions{.sync = options.sync});
  }
  const auto read = [&](TunedTrial& trial, const Json& record) {
    const std::string where = options.journal + ": trial " + std::to_string(trial.trial);
    for (const char* const field : {"value", "seconds", "failure"})
      require(record.contains(field), where, " has no field \"", field, "\"");
    require(record["value"].is_number() || record["value"].is_null(), where, ": \"value\" is not a number");
    require(record["seconds"].is_number(), where, ": \"seconds\" is not a number");
    require(record["failure"].is_string(), where, ": \"failure\" is not a text");
    if (record["value"].is_number()) trial.value = record["value"].get<double>();
    trial.seconds = record["seconds"].get<double>();
    trial.failure = record["failure"].get<std::string>();
    if (!record.contains("reports")) return;
    require(record.contains("hopeless") && record["hopeless"].is_boolean(), where,
            ": \"hopeless\" is not true or false");
    trial.hopeless = record["hopeless"].get<bool>();
  };
  detail::SharedReports reports(reports_progress ? points.size() : 0, rule.most_reports);
  // Takes what a trial of the journal has reported.
  const auto remember = [&](const TunedTrial& trial, const Json& record) {
    if (!reports_progress || !record.contains("reports") || !trial.failure.empty()) return;
    const std::string where = options.journal + ": trial " + std::to_string(trial.trial);
    require(record["reports"].is_array(), where, ": \"reports\" is not an array");
    for (const Json& report : record["reports"]) {
      require(report.is_array() && report.size() == 2 && report[0].is_number() &&
                  (report[1].is_number() || report[1].is_null()),
              where, ": \"reports\" has an element that is not a step and a value");
      reports.add(trial.trial, {report[0].get<double>(), report[1].is_null() ? NAN : report[1].get<double>()});
    }
    if (!trial.hopeless) reports.end(trial.trial);
  };

  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (journal && journal->records().contains(i))
      read(found.trials[i], journal->records().at(i)), remember(found.trials[i], journal->records().at(i));
    else
      missing.push_back(i);

  const auto run = [&](std::size_t i) {
    const auto start = std::chrono::steady_clock::now();
    TrialProgress progress(reports, i, options.median_rule ? &rule : nullptr, options.lower_is_better);
    const double value = [&] {
      if constexpr (reports_progress)
        return function(points[i], progress);
      else
        return function(points[i]);
    }();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const char* const failure = std::isnan(value)   ? "the value is NaN"
                                : std::isinf(value) ? "the value is infinite"
                                                    : "";
    Json json{{"value", value}, {"seconds", seconds.count()}, {"failure", failure}};
    if constexpr (reports_progress) {
      json["hopeless"] = progress.hopeless();
      json["reports"] = Json::array();
      for (const TrialReport& report : reports.of(i)) json["reports"].push_back({report.step, report.value});
      if (*failure == 0 && !progress.hopeless()) reports.end(i);
    }
    return json.dump();
  };
  run_in_processes(missing, options.jobs, run, [&](const TaskResult& result) {
    const Json json = result.failure.empty() ? Json::parse(result.value)
                                             : Json{{"value", nullptr}, {"seconds", 0}, {"failure", result.failure}};
    read(found.trials[result.task], json);
    if (!journal) return;
    Json record{{"point", to_json(points[result.task])}};
    record.update(json);
    journal->append(result.task, record);
  });
  return found;
}

}  // namespace algoperf
