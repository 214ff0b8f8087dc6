// The numbers of trials that Shallue et al. 2019 published for each study (the table of their README), and the goals of
// their figure 1, as tables. Link with zlib. Requires nlohmann-json.
//
//   for (const StudyGoal& goal : read_study_goals("fig1_goals.csv"))
//     for (const BatchResult& result : steps_to_goal("batch_science", goal)) ...
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "published_batch_study.hpp"

namespace algoperf {

// Names the folder of a workload's studies: dataset/model/optimizer.
struct PublishedWorkload {
  std::string dataset, model, optimizer;
  std::string folder() const { return dataset + "/" + model + "/" + optimizer; }
  friend bool operator==(const PublishedWorkload&, const PublishedWorkload&) = default;
};

// The numbers of trials of one study.
struct TrialCounts {
  PublishedWorkload workload;
  std::size_t batch = 0, complete = 0, incomplete = 0, infeasible = 0;
};

// A panel of a figure: the steps to a goal, over the first `trials` complete trials of each batch size.
struct StudyGoal {
  std::string panel;
  PublishedWorkload workload;
  std::size_t trials = 0;
  std::string metric;
  Goal goal;
};

namespace detail {

inline PublishedWorkload published_workload(const CsvRows& rows) {
  return {rows.name(rows.column("dataset")), rows.name(rows.column("model")), rows.name(rows.column("optimizer"))};
}
inline std::size_t whole_in(const CsvRows& rows, const char* column) {
  return static_cast<std::size_t>(rows.whole(rows.column(column)));
}

}  // namespace detail

// Reads a table with the columns dataset, model, optimizer, batch_size, complete, incomplete and infeasible. Throws
// Error, naming the file and the line, if a field is malformed.
inline std::vector<TrialCounts> read_trial_counts(const std::string& path) {
  std::vector<TrialCounts> counts;
  detail::CsvRows rows(path);
  while (rows.next())
    counts.push_back({detail::published_workload(rows), detail::whole_in(rows, "batch_size"),
                      detail::whole_in(rows, "complete"), detail::whole_in(rows, "incomplete"),
                      detail::whole_in(rows, "infeasible")});
  return counts;
}

// Reads a table with the columns panel, dataset, model, optimizer, trials_used, metric, goal and comparison, which is <
// or >. Throws Error, naming the file and the line, if a field is malformed.
inline std::vector<StudyGoal> read_study_goals(const std::string& path) {
  std::vector<StudyGoal> goals;
  detail::CsvRows rows(path);
  while (rows.next()) {
    const std::size_t comparison = rows.column("comparison");
    const std::string& text = rows.text(comparison);
    if (text != "<" && text != ">") rows.refuse(comparison, "< or >");
    goals.push_back({rows.name(rows.column("panel")),
                     detail::published_workload(rows),
                     detail::whole_in(rows, "trials_used"),
                     rows.name(rows.column("metric")),
                     {.value = rows.number(rows.column("goal")), .lower_is_better = text == "<"}});
  }
  return goals;
}

// Throws Error, naming the first study that differs, unless the studies of a workload are those of the table, with the
// same numbers of trials.
inline void require_counts(const std::vector<BatchStudy>& studies, const PublishedWorkload& workload,
                           const std::vector<TrialCounts>& table) {
  std::vector<TrialCounts> expected;
  for (const TrialCounts& counts : table)
    if (counts.workload == workload) expected.push_back(counts);
  for (const TrialCounts& counts : expected) {
    const auto study = std::find_if(studies.begin(), studies.end(),
                                    [&](const BatchStudy& each) { return each.batch == counts.batch; });
    require(study != studies.end(), workload.folder(), ": there is no study of batch size ", counts.batch);
    const std::size_t complete = study->count(TrialStatus::complete),
                      incomplete = study->count(TrialStatus::incomplete),
                      infeasible = study->count(TrialStatus::infeasible);
    require(complete == counts.complete && incomplete == counts.incomplete && infeasible == counts.infeasible,
            workload.folder(), ": the study of batch size ", counts.batch, " has ", complete, " complete, ", incomplete,
            " incomplete and ", infeasible, " infeasible trials, expected ", counts.complete, ", ", counts.incomplete,
            " and ", counts.infeasible);
  }
  require(studies.size() == expected.size(), workload.folder(), ": there are ", studies.size(), " studies, expected ",
          expected.size());
}

// Returns the steps to a goal for each batch size that reaches it, of the studies in `folder`, which contains the
// folders of data sets. Throws Error if a study has fewer complete trials than the goal names.
inline std::vector<BatchResult> steps_to_goal(const std::string& folder, const StudyGoal& goal) {
  std::vector<BatchResult> results;
  for (const BatchStudy& study : read_batch_studies(folder + "/" + goal.workload.folder(), goal.metric))
    if (const auto result = steps_to_result(study, goal.goal, goal.trials)) results.push_back(*result);
  return results;
}

}  // namespace algoperf
