#include "algoperf/scoring/readers/official_logs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"
#include "algoperf/scoring/time_to_target.hpp"

namespace ap = algoperf;
using Sentences = std::vector<std::string>;

namespace {

struct LogFolder {
  Folder folder;
  std::vector<ap::ListedWorkload> workloads;

  LogFolder() {
    for (const char* const name : {"a", "b", "c", "a_big_model", "c_wide"}) {
      const std::string text = name;
      workloads.push_back({{text, text.substr(0, 1), "loss", {.value = 1}}});
    }
  }
  void write(const std::string& trial, const std::string& bytes) const {
    std::filesystem::create_directories(folder / trial);
    folder.write(trial + "/measurements.csv", bytes);
  }
  ap::OfficialLogs read(std::size_t trials = 0) const {
    return ap::read_official_logs(folder.path(), workloads, trials);
  }
  // Returns sentences without the path of the folder.
  std::string cut(std::string text) const {
    for (std::size_t at; (at = text.find(folder.path())) != std::string::npos;)
      text.erase(at, folder.path().size() + 1);
    return text;
  }
  std::string error() const {
    return cut(sentence([&] { read(); }));
  }
};

const std::string header = "global_step,validation/loss,score,accumulated_submission_time,accumulated_eval_time\n";

}  // namespace

TEST_CASE("official logs: evaluation rows, and the last finite times of a trial") {
  const LogFolder logs;
  logs.write("s/study_0/a_jax/trial_1", header +
                                            "0,,,,\n"
                                            "1,2,10,10,5\n"
                                            "5,,20,20,5\n"
                                            "9,nan,30,30,nan\n"
                                            "12,1,41.5,inf,25\n");
  const ap::OfficialLogs found = logs.read();
  REQUIRE(found.logs.size() == 1);
  const ap::TrialLog& log = found.logs[0];
  CHECK(log.submission == "s");
  CHECK(log.workload == "a");
  CHECK(log.study == 0);
  CHECK(log.trial == 1);
  REQUIRE(log.evaluations.size() == 3);
  CHECK(log.evaluations[1].index == 1);
  CHECK(std::isnan(log.evaluations[1].metric));
  CHECK(log.evaluations[2].step == 12);
  CHECK(log.evaluations[2].seconds == 41.5);
  CHECK(log.training_seconds == 30);
  CHECK(log.evaluation_seconds == 25);
  CHECK(found.not_in_logs == Sentences{"b", "c", "a_big_model", "c_wide"});
  CHECK(found.warnings.empty());
}

TEST_CASE("official logs: a variant counts only with its base workload, and a workload's name may have underscores") {
  const LogFolder logs;
  const std::string rows = header + "1,1,1,1,1\n";
  logs.write("s/study_0/a_jax/trial_1", rows);
  logs.write("s/study_0/a_big_model_pytorch/trial_1", rows);
  logs.write("s/study_0/c_wide_jax/trial_1", rows);
  const ap::OfficialLogs found = logs.read();
  REQUIRE(found.suite.workloads.size() == 2);
  CHECK(found.suite.workloads[1].name == "a_big_model");
  CHECK(found.not_in_logs == Sentences{"b", "c", "c_wide"});
}

TEST_CASE("official logs: trials are in the order of their numbers, and what is missing or ignored is reported") {
  const LogFolder logs;
  const std::string rows = header + "1,1,1,1,1\n";
  logs.write("s/study_0/a_jax/trial_10", rows);
  logs.write("s/study_0/a_jax/trial_9", rows);
  logs.write("s/study_1/a_jax/trial_1", rows);
  logs.write("s/study_1/a_jax/trial_2", header);
  logs.write("s/study_1/b_jax/trial_1", "global_step\n1\n");
  logs.write("t/study_1/a_pytorch/trial_1", rows);
  logs.write("t/study_1/a_pytorch/trial_2x", rows);
  logs.write("t/study_1/unknown_jax/trial_1", rows);
  logs.write("t/notes/x/y", "");
  std::filesystem::create_directories(logs.folder / "t/study_1/a_pytorch/trial_3");
  const ap::OfficialLogs found = logs.read(2);
  CHECK(found.logs[0].trial == 9);
  CHECK(found.logs[1].trial == 10);
  Sentences warnings;
  for (const std::string& warning : found.warnings) warnings.push_back(logs.cut(warning));
  CHECK(warnings == Sentences{"s/study_1/a_jax/trial_2/measurements.csv: there is no evaluation",
                              "s/study_1/b_jax/trial_1/measurements.csv: there is no evaluation",
                              "t/notes: is ignored, expected study_<number>",
                              "t/study_1/a_pytorch/trial_2x: is ignored, expected trial_<number>",
                              "t/study_1/a_pytorch/trial_3: there is no measurements.csv",
                              "t/study_1/unknown_jax: is ignored, because 'unknown' is not a listed workload",
                              "s on b: studies with logs: 1, expected 2",
                              "s on b: trials with logs: 1, expected 2, in each of the studies 1",
                              "t on a: studies with logs: 1, expected 2",
                              "t on a: trials with logs: 1, expected 2, in each of the studies 1",
                              "t on b: there are no logs, which counts as a miss"});
}

TEST_CASE("official logs: what is malformed is refused, naming the file or the folder") {
  const LogFolder logs;
  CHECK(logs.error() == logs.cut(logs.folder.path() + ": there is no log of a listed base workload"));
  const std::string file = "s/study_0/a_jax/trial_1";
  logs.write(file, header + "1,2,10,,\n2,2,9,,\n");
  CHECK(logs.error() == file +
                            "/measurements.csv:3: column \"score\" is \"9\", expected no less time than in the "
                            "evaluation before");
  logs.write(file, header + "2,2,10,,\n1,2,11,,\n");
  CHECK(logs.error() == file +
                            "/measurements.csv:3: column \"global_step\" is \"1\", expected no fewer steps than in "
                            "the evaluation before");
  logs.write(file, header + "2,2,nan,,\n");
  CHECK(logs.error() == file +
                            "/measurements.csv:2: column \"score\" is \"nan\", expected a finite number of at least "
                            "0");
  logs.write(file, header + "2,2,,,\n");
  CHECK(logs.error() == file + "/measurements.csv:2: column \"score\" is \"\", expected a number");
  logs.write(file, header + "2,x,1,,\n");
  CHECK(logs.error() == file + "/measurements.csv:2: column \"validation/loss\" is \"x\", expected a number");
  logs.write(file, "validation/loss,score\n1,1\n");
  CHECK(logs.error() == file + "/measurements.csv:1: there is no column \"global_step\"");
  logs.write(file, header);
  logs.write("s/study_00/a_jax/trial_1", header);
  CHECK(logs.error() == "s/study_00: has the number of s/study_0");
  std::filesystem::remove_all(logs.folder / "s/study_00");
  logs.write("s/study_0/a_pytorch/trial_1", header);
  CHECK(logs.error() == "s/study_0/a_pytorch: 'a' has logs of another framework in the same study");
  CHECK(sentence([&] { ap::read_official_logs(logs.folder / "none", logs.workloads); }).find("cannot be listed") !=
        std::string::npos);
}
