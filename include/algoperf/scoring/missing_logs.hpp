// Says which logs of a suite are missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "concept.hpp"

namespace algoperf {

// Returns a sentence for each workload of the suite on which a submission has no logs, or has logs of another number of
// studies than expected, or of another number of trials of a study.
inline std::vector<std::string> missing_logs(const Suite& suite, const std::vector<TrialLog>& logs) {
  std::map<std::pair<std::string, std::string>, std::map<std::uint64_t, std::size_t>> trials;  // by study
  std::set<std::string> submissions;
  for (const TrialLog& log : logs) {
    ++trials[{log.submission, log.workload}][log.study];
    submissions.insert(log.submission);
  }
  std::vector<std::string> sentences;
  for (const std::string& submission : submissions)
    for (const ScoredWorkload& workload : suite.workloads) {
      const auto& studies = trials[{submission, workload.name}];
      const std::string where = submission + " on " + workload.name + ": ";
      if (studies.empty()) {
        sentences.push_back(where + "there are no logs, which counts as a miss");
        continue;
      }
      if (suite.studies > 0 && studies.size() != suite.studies)
        sentences.push_back(where + "studies with logs: " + std::to_string(studies.size()) + ", expected " +
                            std::to_string(suite.studies));
      std::map<std::size_t, std::string> unexpected;  // numbers of the studies, by their number of trials
      for (const auto& [study, n] : studies)
        if (suite.trials > 0 && n != suite.trials) unexpected[n] += " " + std::to_string(study);
      for (const auto& [n, numbers] : unexpected)
        sentences.push_back(where + "trials with logs: " + std::to_string(n) + ", expected " +
                            std::to_string(suite.trials) + ", in each of the studies" + numbers);
    }
  return sentences;
}

}  // namespace algoperf
