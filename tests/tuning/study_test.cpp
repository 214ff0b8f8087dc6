#include "algoperf/tuning/study.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algoperf/algoperf.hpp>
#include <algoperf/tuning/study_logs.hpp>
#include <algorithm>
#include <csignal>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"
#include "small_study.hpp"

namespace ap = algoperf;

namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(bytes_of(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

ap::Study small_study(const std::string& folder, ap::StudyOptions options = {}) {
  options.folder = folder;
  options.studies = 2;
  options.trials = 3;
  options.trial.steps = 30;
  options.trial.evaluate_every = 10;
  ap::Study study(options);
  study.add(SmallDigits{}, HeavyBallSubmission{}, SgdSubmission{});
  return study;
}

// What a study decides: everything but its seconds.
std::string decisions(const std::vector<ap::StudyRecord>& records) {
  std::string text;
  for (const ap::StudyRecord& record : records) {
    text += record.submission + record.workload + std::to_string(record.study) + std::to_string(record.trial) +
            ap::to_json(record.point).dump() + record.result.failure;
    for (const ap::EvaluationReport& e : record.result.evaluations)
      text += " " + std::to_string(e.step) + ":" + std::to_string(e.loss) + ":" + std::to_string(e.metric);
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("a study runs every submission with the points of its search space") {
  const Folder folder;
  std::vector<std::size_t> progress;
  ap::Study study = small_study(folder / "a");
  const auto records = study.run([&](std::size_t finished, std::size_t all) {
    CHECK(all == 12);
    progress.push_back(finished);
  });
  CHECK(progress == std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  REQUIRE(records.size() == 12);
  std::set<double> rates;
  std::set<std::string> submissions;
  for (const ap::StudyRecord& record : records) {
    CHECK(record.workload == "small_digits");
    CHECK(record.metric == "error");
    CHECK(record.result.failure.empty());
    CHECK(record.result.evaluations.size() >= 2);
    rates.insert(record.point["rate"]);
    submissions.insert(record.submission);
  }
  CHECK(rates.size() == 12);  // studies and submissions have points of their own
  CHECK(submissions == std::set<std::string>{"heavy_ball", "sgd"});
  CHECK(lines_of(study.path()).size() == 13);
  // In one process, in three, and in two shards, the results are the same.
  CHECK(decisions(small_study(folder / "b", {.jobs = 0}).run()) == decisions(records));
  CHECK(decisions(small_study(folder / "c", {.jobs = 3}).run()) == decisions(records));
  for (const ap::StudyRecord& record : small_study(folder / "c", {.jobs = 0}).records()) CHECK(record.jobs == 3);
  CHECK(small_study(folder / "d", {.jobs = 0, .shard = 1, .shards = 2}).run().size() == 6);
  CHECK(decisions(small_study(folder / "d", {.jobs = 0, .shard = 0, .shards = 2}).run()) == decisions(records));
}

TEST_CASE("a study that is killed again and again ends with the same results and keeps finished records") {
  const Folder folder;
  const std::string expected = decisions(small_study(folder / "whole", {.jobs = 0}).run());
  ap::Study study = small_study(folder / "killed", {.jobs = 2});
  int kills = 0;
  for (std::vector<std::string> before;;) {
    const pid_t process = ::fork();
    REQUIRE(process >= 0);
    if (process == 0) {
      study.run();
      ::_exit(0);
    }
    if (kills < 8) {
      ::usleep(static_cast<useconds_t>(3000 + 4000 * kills));
      ::kill(process, SIGKILL);
    }
    int status = 0;
    ::waitpid(process, &status, 0);
    std::vector<std::string> after = lines_of(study.path());
    std::sort(after.begin(), after.end());
    CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
    before = after;
    if (WIFEXITED(status)) break;
    ++kills;
  }
  CHECK(decisions(study.run()) == expected);
}

TEST_CASE("a trial that crashes is a record, and the study goes on") {
  const Folder folder;
  ap::Study study({.folder = folder / "a", .studies = 1, .trials = 4, .trial = {.steps = 10, .evaluate_every = 5}});
  study.add(SmallDigits{}, CrashingSubmission{});
  const auto records = study.run();
  REQUIRE(records.size() == 4);
  std::size_t crashed = 0, threw = 0;
  for (const ap::StudyRecord& record : records) {
    crashed += record.result.failure == "the process was ended by signal 9 (Killed)";
    threw += record.result.failure == "sgd: weight_decay is -1, expected at least 0" ||
             record.result.failure.find("weight_decay") != std::string::npos ||
             record.result.failure.find("rate is -1") != std::string::npos;
  }
  CHECK(crashed == 1);
  CHECK(threw == 1);
}

TEST_CASE("a journal of another study is refused, and contradictory options, too") {
  const Folder folder;
  small_study(folder / "a", {.jobs = 0}).run();
  const std::string path = folder / "a/journal.jsonl";
  CHECK(sentence([&] { small_study(folder / "a", {.seed = 2, .jobs = 0}).run(); }) ==
        path + ":1: settings.seed is 1, but this study has 2");
  CHECK(sentence([&] { ap::Study study({.studies = 0}); }) == "StudyOptions: studies is 0, expected at least 1");
  CHECK(sentence([&] { ap::Study study({.trials = 0}); }) == "StudyOptions: trials is 0, expected at least 1");
  CHECK(sentence([&] { ap::Study study({.shard = 2, .shards = 2}); }) ==
        "StudyOptions: shard is 2, expected less than shards, which is 2");
  struct OtherTarget : SmallDigits {
    ap::Target target() const { return {0.6, true}; }
  };
  CHECK(sentence([&] {
          ap::Study other(
              {.folder = folder / "a", .studies = 2, .trials = 3, .trial = {.steps = 30, .evaluate_every = 10}});
          other.add(OtherTarget{}, HeavyBallSubmission{}, SgdSubmission{});
          other.run();
        }) == path + ":1: settings.cells[0].target is 0.7, but this study has 0.6");
  struct OtherBatch : SmallDigits {
    std::size_t batch_size() const { return 64; }
  };
  CHECK(sentence([&] {
          ap::Study other(
              {.folder = folder / "a", .studies = 2, .trials = 3, .trial = {.steps = 30, .evaluate_every = 10}});
          other.add(OtherBatch{}, HeavyBallSubmission{}, SgdSubmission{});
          other.run();
        }) == path + ":1: settings.cells[0].batch_size is 128, but this study has 64");
  ap::Study study = small_study(folder / "b");
  CHECK(sentence([&] { study.add(SmallDigits{}, SgdSubmission{}); }) ==
        "Study: submission 'sgd' was added to workload 'small_digits' twice");
  std::string changed = bytes_of(path);
  changed.replace(changed.find("\"rate\":", changed.find('\n')), 7, "\"race\":");
  folder.write("a/journal.jsonl", changed);
  CHECK(sentence([&] { small_study(folder / "a", {.jobs = 0}).run(); }).ends_with("has another point than this study"));
  changed.replace(changed.find("\"race\":", changed.find('\n')), 7, "\"rate\":");
  changed.replace(changed.find("\"steps\":", changed.find('\n')), 8, "\"stops\":");
  folder.write("a/journal.jsonl", changed);
  CHECK(sentence([&] { small_study(folder / "a", {.jobs = 0}).run(); }).find("is damaged") != std::string::npos);
}

TEST_CASE("a study loads the data of each workload that has a missing trial, and of no other") {
  const Folder folder;
  for (const std::size_t shard : {0u, 1u}) {
    ap::Study study({.folder = folder / std::to_string(shard),
                     .studies = 1,
                     .trials = 3,
                     .trial = {.steps = 2},
                     .jobs = 0,
                     .shard = shard,
                     .shards = 2});
    std::string loaded;
    for (const char* const name : {"a", "b", "c"}) {
      ap::StudyEntry entry = ap::study_entry(SmallDigits{}, SgdSubmission{});
      entry.workload.name = entry.workload.base = name;
      entry.load = [&loaded, name] { loaded += name; };
      study.add(entry);
    }
    study.run();
    CHECK(loaded == "abc");
    study.run();
    CHECK(loaded == "abc");
  }
}

TEST_CASE("a variant without its base workload in the study counts as a base workload") {
  ap::Study study({});
  ap::StudyEntry entry = ap::study_entry(SmallDigits{}, SgdSubmission{});
  entry.workload.name = "small_digits_tanh";
  study.add(entry);
  CHECK(study.suite().workloads.at(0).is_base());
  study.add(SmallDigits{}, SgdSubmission{});
  CHECK_FALSE(study.suite().workloads.at(0).is_base());
  CHECK(study.suite().base_count() == 1);
}

TEST_CASE("self-tuning: one trial of the default point per study, with 1.5 times the budget") {
  const Folder folder;
  ap::Study study({.folder = folder / "a",
                   .studies = 2,
                   .ruleset = ap::Ruleset::self_tuning,
                   .trial = {.steps = 15, .evaluate_every = 10, .stop_at_target = false},
                   .jobs = 0});
  study.add(SmallDigits{}, SgdSubmission{});
  const auto records = study.run();
  REQUIRE(records.size() == 2);
  for (const ap::StudyRecord& record : records) {
    CHECK(record.trial == 0);
    CHECK(record.point == ap::study_entry(SmallDigits{}, SgdSubmission{}).default_point());
    CHECK(record.result.steps == 23);  // ceil(1.5 * 15)
  }
  CHECK(records[0].result.evaluations.back().loss != records[1].result.evaluations.back().loss);  // other seeds
  CHECK(study.suite().trials == 1);
}

TEST_CASE("records become logs with four clocks") {
  const Folder folder;
  const auto records = small_study(folder / "a").run();
  const auto logs = ap::trial_logs(records);
  REQUIRE(logs.size() == records.size());
  const ap::StudyRecord& record = records.front();
  const ap::Evaluation last = logs.front().evaluations.back();
  CHECK(last.step == static_cast<double>(record.result.steps));
  CHECK(last.examples == doctest::Approx(static_cast<double>(record.result.examples)));
  CHECK(last.flops == doctest::Approx(record.result.flops));
  CHECK(last.examples == 32 * last.step);
  CHECK(last.seconds == record.result.evaluations.back().training_seconds);
  CHECK(last.metric == record.result.evaluations.back().metric);
  CHECK(last.index + 1 == logs.front().evaluations.size());
}
