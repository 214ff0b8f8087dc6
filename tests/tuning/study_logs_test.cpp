// The logs of a study are in AlgoPerf's layout, and are scored as such.
#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/scoring/all.hpp>
#include <algoperf/scoring/readers/official_logs.hpp>
#include <algoperf/tuning/study.hpp>
#include <algoperf/tuning/study_logs.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "small_study.hpp"

namespace ap = algoperf;

TEST_CASE("a study's logs are read and scored as AlgoPerf's are") {
  const Folder folder;
  ap::Study study(
      {.folder = folder / "out", .studies = 2, .trials = 3, .trial = {.steps = 60, .evaluate_every = 10}, .jobs = 0});
  study.add(SmallDigits{}, HeavyBallSubmission{}, SgdSubmission{});
  const std::vector<ap::StudyRecord> records = study.run();
  ap::write_official_logs(folder / "logs", records);

  ap::ListedWorkload listed;
  listed.name = listed.base = "small_digits";
  listed.metric = "error";
  listed.target = SmallDigits{}.target();
  const ap::OfficialLogs found = ap::read_official_logs(folder / "logs", {listed}, 3);
  CHECK(found.warnings.empty());
  REQUIRE(found.logs.size() == records.size());
  std::size_t hits = 0;
  for (const ap::StudyRecord& record : records)
    for (const ap::TrialLog& log : found.logs) {
      if (log.submission != record.submission || log.study != record.study || log.trial != record.trial + 1) continue;
      REQUIRE(log.evaluations.size() == record.result.evaluations.size());
      for (std::size_t i = 0; i < log.evaluations.size(); ++i) {
        CHECK(log.evaluations[i].metric == record.result.evaluations[i].metric);
        CHECK(log.evaluations[i].seconds == record.result.evaluations[i].training_seconds);
        CHECK(log.evaluations[i].step == static_cast<double>(record.result.evaluations[i].step));
      }
      const ap::Evaluation* const hit = ap::first_hit(log, listed.target);
      CHECK((hit != nullptr) == record.result.reached);
      hits += hit != nullptr;
    }
  CHECK(hits > 0);
  CHECK(hits < records.size());
  const ap::StudyTimes studies = ap::study_times(found.suite, found.logs, {.clock = ap::Clock::steps});
  const ap::TimeTable times = ap::median_times(studies);
  CHECK(times.at(times.find("heavy_ball"), 0) <= 60);
  CHECK(
      bytes_of(folder / "logs/sgd/study_1/small_digits_algoperf/trial_3/hparams.json").starts_with("{\n  \"rate\": "));
}
