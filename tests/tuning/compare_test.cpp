#include "algoperf/tuning/compare.hpp"

#include <doctest/doctest.h>

#include <algoperf/algoperf.hpp>
#include <filesystem>
#include <string>

#include "../support/folder.hpp"
#include "small_study.hpp"

namespace ap = algoperf;

namespace {

struct OtherDigits : SmallDigits {
  static constexpr const char* name = "others <&>";
};

struct FailingSubmission : CrashingSubmission {
  static constexpr const char* name = "failing";
  ap::SearchSpace search_space() const {
    return ap::SearchSpace(
        std::vector<ap::HyperPoint>{{{"rate", 0.1}, {"decay", 0.0}}, {{"rate", 0.1}, {"decay", -1.0}}});
  }
};

}  // namespace

TEST_CASE("compare ranks submissions on a workload and writes journal, logs and report") {
  const Folder folder;
  const std::string out = folder / "out";
  const ap::StudyOptions options{
      .folder = out, .studies = 2, .trials = 4, .trial = {.steps = 40, .evaluate_every = 5}, .jobs = 0};
  const ap::Standings found = ap::compare(options, SmallDigits{}, SgdSubmission{}, HeavyBallSubmission{});
  REQUIRE(found.scores.size() == 2);
  CHECK(found.scores[found.order[0]] >= found.scores[found.order[1]]);
  CHECK(found.scores[found.order[0]] > 0);  // the target was reached
  CHECK(std::filesystem::exists(out + "/logs/sgd/study_1/small_digits_algoperf/trial_4/measurements.csv"));
  const std::string page = bytes_of(out + "/report.html");
  for (const char* const part :
       {"<h1>Comparison on small_digits</h1>", "Ranking", "Time to target", "Performance profile", "Training curves",
        "Sensitivity to hyperparameters", "Clocks", "No trial failed", "heavy_ball, study 2, trial", "</html>"})
    CHECK_MESSAGE(page.find(part) != std::string::npos, std::string(part));
  for (const char* const never : {"nan", "src=", "http:", "https:"})
    CHECK_MESSAGE(page.find(never) == std::string::npos, std::string(never));
  // A second call reads the journal.
  const std::string journal = bytes_of(out + "/journal.jsonl");
  const ap::Standings again = ap::compare(options, SmallDigits{}, SgdSubmission{}, HeavyBallSubmission{});
  CHECK(bytes_of(out + "/journal.jsonl") == journal);
  CHECK(again.scores == found.scores);
  CHECK(bytes_of(out + "/report.html") == page);
}

TEST_CASE("a report lists failures, and what one shared point costs over workloads") {
  const Folder folder;
  ap::Study study(
      {.folder = folder / "out", .studies = 1, .trials = 2, .trial = {.steps = 40, .evaluate_every = 5}, .jobs = 0});
  study.add(SmallDigits{}, SgdSubmission{}, FailingSubmission{});
  study.add(OtherDigits{}, SgdSubmission{}, FailingSubmission{});
  const auto records = study.run();
  ap::write_study_report(folder / "r.html", "a <title>", study, records, ap::Clock::steps);
  const std::string page = bytes_of(folder / "r.html");
  for (const char* const part :
       {"a &lt;title&gt;", "others &lt;&amp;&gt;", "What one shared point costs", "2 of 8 trials ended early",
        "failing on small_digits, study 1, trial", "rate = 0.1, decay = -1", "Clock: steps"})
    CHECK_MESSAGE(page.find(part) != std::string::npos, std::string(part));
  CHECK_THROWS_AS(ap::write_study_report(folder / "r.html", "t", study, {}), ap::Error);
  CHECK(page.find("8 trials, 1 at a time") != std::string::npos);
  auto beside = records;
  beside[3].jobs = 2;
  ap::write_study_report(folder / "r.html", "t", study, beside, ap::Clock::time);
  const std::string warned = bytes_of(folder / "r.html");
  for (const char* const part : {"8 trials, 2 at a time", "run them one at a time to publish seconds"})
    CHECK_MESSAGE(warned.find(part) != std::string::npos, std::string(part));
  const std::string text = ap::format_standings(ap::rank_submissions(study.suite(), ap::trial_logs(records)));
  CHECK(text.find("sgd") != std::string::npos);
  CHECK(text.find("Times to target in training seconds.") != std::string::npos);
}
