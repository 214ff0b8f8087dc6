// compare(workload, submissions...): a study of one's own workload in one call. Requires fmt and nlohmann-json; POSIX
// only.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "study_logs.hpp"
#include "study_report.hpp"

namespace algoperf {

// Runs the trials of a study that are missing, with a line of progress on stderr, and returns the records of all.
inline std::vector<StudyRecord> run_with_progress(Study& study) {
  const Stopwatch watch;
  std::size_t before = 0;
  bool first = true;
  return study.run([&](std::size_t finished, std::size_t all) {
    if (first) before = finished - 1, first = false;
    const double left = watch.seconds() * static_cast<double>(all - finished) / static_cast<double>(finished - before);
    std::fprintf(stderr, "\r%zu of %zu trials, about %.0f s left  %s", finished, all, left,
                 finished == all ? "\n" : "");
    std::fflush(stderr);
  });
}

// Prints the ranking of a study and writes report.html and logs/, the logs in AlgoPerf's layout, into its folder.
// Returns the standings. If the study ran on several ranks, rank 0 alone prints and writes. Throws Error if there is no
// record.
inline Standings report_study(const Study& study, const std::vector<StudyRecord>& records, const std::string& title,
                              Clock clock = Clock::time) {
  require(!records.empty(), study.path(), ": no trial has ended");
  const Standings standings = rank_submissions(study.suite(), trial_logs(records), {.clock = clock});
  if (!study.options().is_root()) return standings;
  std::fputs(format_standings(standings, clock).c_str(), stdout);
  const std::string& folder = study.options().folder;
  write_official_logs(folder + "/logs", records);
  write_study_report(folder + "/report.html", title, study, records, clock);
  std::printf("Wrote %s/report.html, journal.jsonl and logs/\n", folder.c_str());
  return standings;
}

// Tunes the submissions on a workload, ranks them by their time to its target, and reports. The folder then contains
// journal.jsonl with every trial, report.html and logs/.
//   compare({.folder = "adult", .studies = 3, .trials = 5}, workload, AdamWBaseline{}, MySubmission{});
// Run it again to continue a comparison that was interrupted.
template <class W, class... S>
Standings compare(const StudyOptions& options, const W& workload, const S&... submissions) {
  Study study(options);
  study.add(workload, submissions...);
  return report_study(study, run_with_progress(study), "Comparison on " + std::string(workload.name), options.clock);
}
template <Workload W, class... S>
Standings compare(const W& workload, const S&... submissions) {
  return compare(StudyOptions{.folder = "out/" + std::string(workload.name)}, workload, submissions...);
}

}  // namespace algoperf
