// Reads the logs of many training runs from four CSV files. Link with zlib.
//
//   workloads.csv   see readers/workload_list.hpp
//   datasets.csv    dataset, ruleset ("external" or "self"), n_studies, n_trials, base_workloads, held_out_workloads,
//                   submissions: lists are separated by spaces; "*" stands for all submissions
//   trials.csv      trial_id, dataset, submission, workload, study, trial, n_rows: one training run with
//                   n_rows evaluations
//   curves.csv      trial_id, eval_idx, global_step, time_s, metric: one evaluation
//
// Other columns are ignored. Evaluations may be left out if no target is affected; eval_idx counts those, too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../concept.hpp"
#include "csv_rows.hpp"
#include "workload_list.hpp"

namespace algoperf {

// The runs that are scored together.
struct ScoredDataset {
  Suite suite;
  bool self_tuning = false;
  std::vector<double> max_seconds;  // the budget of a trial on each workload of the suite, NaN if it is not listed
  std::vector<TrialLog> logs;
};

namespace detail {

inline std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

inline void add_workloads(Suite& suite, std::vector<double>& max_seconds, const std::vector<ListedWorkload>& all,
                          const CsvRows& rows, std::size_t column, bool base) {
  for (const std::string& word : words_of(rows.text(column))) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const ListedWorkload& w) { return w.name == word; });
    if (found == all.end()) rows.refuse(column, "names of workloads.csv, which does not list '" + word + "'");
    if (found->is_base() != base) rows.refuse(column, base ? "base workloads only" : "variants only");
    suite.workloads.push_back(*found);
    max_seconds.push_back(found->max_seconds);
  }
}

// A row of datasets.csv.
struct ListedDataset {
  ScoredDataset dataset;
  std::vector<std::string> submissions;  // or "*"

  bool scores(const std::string& submission, const std::string& workload) const {
    const auto listed = std::find(submissions.begin(), submissions.end(), submission);
    return (submissions[0] == "*" || listed != submissions.end()) && dataset.suite.find(workload) != Suite::none;
  }
};

inline std::vector<ListedDataset> read_datasets(const std::string& path, const std::vector<ListedWorkload>& workloads) {
  CsvRows rows(path);
  const std::size_t name = rows.column("dataset"), ruleset = rows.column("ruleset"), studies = rows.column("n_studies"),
                    trials = rows.column("n_trials"), base = rows.column("base_workloads"),
                    held_out = rows.column("held_out_workloads"), submissions = rows.column("submissions");
  std::vector<ListedDataset> datasets;
  while (rows.next()) {
    ListedDataset listed{{}, words_of(rows.text(submissions))};
    for (const ListedDataset& other : datasets)
      if (other.dataset.suite.name == rows.text(name)) rows.refuse(name, "each data set once");
    if (listed.submissions.empty()) rows.refuse(submissions, "names of submissions, or *");
    if (rows.text(ruleset) != "external" && rows.text(ruleset) != "self") rows.refuse(ruleset, "external or self");
    Suite& suite = listed.dataset.suite;
    suite.name = rows.name(name);
    suite.studies = static_cast<std::size_t>(rows.whole(studies));
    suite.trials = static_cast<std::size_t>(rows.whole(trials));
    listed.dataset.self_tuning = rows.text(ruleset) == "self";
    add_workloads(suite, listed.dataset.max_seconds, workloads, rows, base, true);
    add_workloads(suite, listed.dataset.max_seconds, workloads, rows, held_out, false);
    suite.check();
    datasets.push_back(listed);
  }
  require(!datasets.empty(), rows.path(), ": lists no data set");
  return datasets;
}

// The place of a trial's log, and the number of rows of curves.csv that belong to it.
struct TrialPlace {
  std::size_t dataset = 0, log = Suite::none;  // none: the trial is not scored
  std::uint64_t rows = 0, expected_rows = 0;
};
using TrialPlaces = std::unordered_map<std::uint64_t, TrialPlace>;  // by trial_id

inline TrialPlaces read_trials(const std::string& path, const std::vector<ListedWorkload>& workloads,
                               std::vector<ListedDataset>& datasets) {
  CsvRows rows(path);
  const std::size_t id = rows.column("trial_id"), dataset = rows.column("dataset"),
                    submission = rows.column("submission"), workload = rows.column("workload"),
                    study = rows.column("study"), trial = rows.column("trial"), count = rows.column("n_rows");
  TrialPlaces places;
  while (rows.next()) {
    TrialPlace place{.expected_rows = rows.whole(count)};
    while (place.dataset < datasets.size() && datasets[place.dataset].dataset.suite.name != rows.text(dataset))
      ++place.dataset;
    if (place.dataset == datasets.size()) rows.refuse(dataset, "a data set of datasets.csv");
    const auto named = [&](const ListedWorkload& listed) { return listed.name == rows.text(workload); };
    if (std::none_of(workloads.begin(), workloads.end(), named)) rows.refuse(workload, "a workload of workloads.csv");
    if (ListedDataset& of = datasets[place.dataset]; of.scores(rows.name(submission), rows.text(workload))) {
      place.log = of.dataset.logs.size();
      of.dataset.logs.push_back({rows.text(submission), rows.text(workload), rows.whole(study), rows.whole(trial)});
    }
    if (!places.emplace(rows.whole(id), place).second) rows.refuse(id, "each trial once");
  }
  return places;
}

inline void read_curves(const std::string& path, TrialPlaces& places, std::vector<ListedDataset>& datasets) {
  CsvRows rows(path);
  const std::size_t id = rows.column("trial_id"), index = rows.column("eval_idx"), step = rows.column("global_step"),
                    time = rows.column("time_s"), metric = rows.column("metric");
  while (rows.next()) {
    const auto found = places.find(rows.whole(id));
    if (found == places.end()) rows.refuse(id, "a trial of trials.csv");
    TrialPlace& place = found->second;
    if (++place.rows > place.expected_rows)
      rows.refuse(id, "as many rows per trial as trials.csv states, " + std::to_string(place.expected_rows));
    if (place.log == Suite::none) continue;
    std::vector<Evaluation>& evaluations = datasets[place.dataset].dataset.logs[place.log].evaluations;
    const Evaluation now{rows.whole(index), rows.measure(step), rows.measure(time), rows.number(metric)};
    if (!evaluations.empty()) {
      const Evaluation& last = evaluations.back();
      if (now.index <= last.index)
        rows.refuse(index, "more than " + std::to_string(last.index) + ", that of the trial's row before");
      if (now.step < last.step) rows.refuse(step, "no fewer steps than in the trial's row before");
      if (now.seconds < last.seconds) rows.refuse(time, "no less time than in the trial's row before");
    }
    evaluations.push_back(now);
  }
}

}  // namespace detail

// Reads the four files of a folder. Throws Error, naming file, line and column, if a file is malformed or contradicts
// another: an unknown name, a trial twice, an evaluation of an unknown trial, steps or times that fall.
inline std::vector<ScoredDataset> read_compact_logs(const std::string& folder) {
  const std::vector<ListedWorkload> workloads = read_workloads(folder + "/workloads.csv");
  std::vector<detail::ListedDataset> listed = detail::read_datasets(folder + "/datasets.csv", workloads);
  detail::TrialPlaces places = detail::read_trials(folder + "/trials.csv", workloads, listed);
  detail::read_curves(folder + "/curves.csv", places, listed);
  for (const auto& [id, place] : places)
    require(place.rows == place.expected_rows, folder, "/curves.csv: trial ", id, " has ", place.rows,
            " rows, but trials.csv states ", place.expected_rows);
  std::vector<ScoredDataset> datasets;
  for (detail::ListedDataset& each : listed) {
    for (const std::string& name : each.submissions) {
      const auto by = [&](const TrialLog& log) { return log.submission == name; };
      require(name == "*" || std::any_of(each.dataset.logs.begin(), each.dataset.logs.end(), by), folder,
              "/datasets.csv: '", each.dataset.suite.name, "' lists the submission '", name,
              "', of which trials.csv has no trial");
    }
    datasets.push_back(std::move(each.dataset));
  }
  return datasets;
}

}  // namespace algoperf
