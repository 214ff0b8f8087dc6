// Reproduces the published scores and times of AlgoPerf v0.5, of the paper, and of the official analysis.
#include <doctest/doctest.h>

#include <algoperf/scoring/all.hpp>
#include <algoperf/scoring/readers/all.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../support/data_path.hpp"
#include "../support/near.hpp"

namespace ap = algoperf;

namespace {

struct PublishedRun {
  ap::ScoredDataset dataset;
  ap::TimeTable documented, official;  // medians
};

std::vector<PublishedRun> published_runs(const std::string& folder) {
  std::vector<PublishedRun> runs;
  for (const ap::ScoredDataset& dataset : ap::read_compact_logs(folder)) {
    const auto times = [&](ap::TrialChoice choice) {
      return ap::median_times(ap::study_times(dataset.suite, dataset.logs, {.choice = choice}));
    };
    runs.push_back({dataset, times(ap::TrialChoice::fastest), times(ap::TrialChoice::first_by_index)});
  }
  return runs;
}

const PublishedRun& named(const std::vector<PublishedRun>& runs, const std::string& dataset) {
  const auto found = std::find_if(runs.begin(), runs.end(),
                                  [&](const PublishedRun& run) { return run.dataset.suite.name == dataset; });
  REQUIRE(found != runs.end());
  return *found;
}

double score_of(const ap::TimeTable& times, const std::string& submission, ap::Integral integral) {
  return ap::PerformanceProfile(ap::counted_times(times)).score(times.find(submission), integral);
}

// The scores and times of a table as {submission, column name, value}.
struct Cell {
  std::string submission, column;
  double value;
};
std::vector<Cell> cells(const std::string& path) {
  ap::detail::CsvRows rows(path);
  std::vector<Cell> found;
  while (rows.next())
    for (std::size_t c = 1; c < rows.names().size(); ++c)
      found.push_back({rows.text(0), rows.names()[c], rows.number(c)});
  return found;
}

}  // namespace

TEST_CASE("all scores of AlgoPerf v0.5, by both rules and both integrals") {
  const std::string folder = data_path("algoperf-v05");
  if (folder.empty()) return;
  const std::vector<PublishedRun> runs = published_runs(folder);
  ap::detail::CsvRows rows(folder + "/expected_scores.csv");
  std::size_t checked = 0;
  for (; rows.next(); ++checked) {
    const PublishedRun& run = named(runs, rows.text(rows.column("dataset")));
    const std::string& submission = rows.text(rows.column("submission"));
    CAPTURE(submission);
    const double official = score_of(run.official, submission, ap::Integral::trapezoid);
    char digits[16];
    std::snprintf(digits, sizeof digits, "%.4f", official);
    CHECK(digits == rows.text(rows.column("published")));
    CHECK(official == near(rows.number(rows.column("official_rule_trapz100")), 1e-14));
    CHECK(score_of(run.documented, submission, ap::Integral::trapezoid) ==
          near(rows.number(rows.column("doc_rule_trapz100")), 1e-14));
    CHECK(score_of(run.documented, submission, ap::Integral::exact) ==
          near(rows.number(rows.column("doc_rule_exact_integral")), 1e-14));
  }
  CHECK(checked == 17);
}

TEST_CASE("all times to target of AlgoPerf v0.5, and the ratios that count") {
  const std::string folder = data_path("algoperf-v05");
  if (folder.empty()) return;
  const std::vector<PublishedRun> runs = published_runs(folder);
  ap::detail::CsvRows rows(folder + "/expected_ttt.csv");
  std::size_t checked = 0, ratios = 0;
  // No logs are a miss. Some of the published times differ from those of the logs in the last bit.
  const auto same = [](double found, double expected) {
    return expected < INFINITY ? std::fabs(found - expected) <= 1e-15 * expected : !(found < INFINITY);
  };
  for (; rows.next(); ++checked) {
    const PublishedRun& run = named(runs, rows.text(rows.column("dataset")));
    const std::string &submission = rows.text(rows.column("submission")),
                      &workload = rows.text(rows.column("workload"));
    CAPTURE(submission);
    CAPTURE(workload);
    const std::size_t s = run.official.find(submission), w = run.dataset.suite.find(workload);
    REQUIRE(w != ap::Suite::none);
    CHECK(same(run.official.at(s, w), rows.number(rows.column("official_ttt_s"))));
    CHECK(same(run.documented.at(s, w), rows.number(rows.column("doc_rule_ttt_s"))));
    if (!run.dataset.suite.workloads[w].is_base()) continue;
    const ap::PerformanceProfile profile(ap::counted_times(run.official));
    const double ratio = profile.ratios(s)[w];  // base workloads come first
    const double expected = rows.number(rows.column("official_counted_ratio"));
    CHECK((expected < INFINITY ? std::fabs(ratio - expected) <= 1e-14 * expected : ratio == INFINITY));
    ++ratios;
  }
  CHECK(checked == 238);
  CHECK(ratios == 17 * 8);
}

TEST_CASE("the speedups over the baseline that AlgoPerf announced: 28 % and 8 %") {
  const std::string folder = data_path("algoperf-v05");
  if (folder.empty()) return;
  const std::vector<PublishedRun> runs = published_runs(folder);
  const auto speedup = [&](const char* dataset, const char* submission, double factor) {
    const PublishedRun& run = named(runs, dataset);
    std::vector<double> misses = run.dataset.max_seconds;
    for (double& seconds : misses) seconds = factor * seconds + 1;
    return ap::geometric_mean_speedup(run.official, run.official.find(submission), run.official.find("baseline"),
                                      misses);
  };
  CHECK(std::fabs(1 - 1 / speedup("v05_external", "shampoo_submission", 1) - 0.28) < 0.01);
  CHECK(std::fabs(1 - 1 / speedup("v05_self", "schedule_free_adamw", 3) - 0.08) < 0.01);
}

TEST_CASE("the 31 scores of the paper, from its tables of times") {
  const std::string folder = data_path("algoperf-v05");
  if (folder.empty()) return;
  const std::vector<ap::TimeTable> tables = ap::read_time_tables(folder + "/paper_ttt.csv");
  ap::detail::CsvRows rows(folder + "/paper_ttt.csv");
  std::size_t checked = 0;
  for (; rows.next(); ++checked) {
    const auto table = std::find_if(tables.begin(), tables.end(), [&](const ap::TimeTable& t) {
      return t.suite.name == rows.text(rows.column("clock"));
    });
    const std::string& submission = rows.text(rows.column("submission"));
    CAPTURE(submission);
    const double score = score_of(*table, submission, ap::Integral::exact);
    CHECK(std::fabs(score - rows.number(rows.column("published_score"))) < 3e-5);
  }
  CHECK(checked == 31);
}

TEST_CASE("every number of the official analysis of three studies' log folders") {
  const std::string folder = data_path("algoperf-logs"), list = data_path("algoperf-v05");
  if (folder.empty() || list.empty()) return;
  const ap::OfficialLogs found =
      ap::read_official_logs(folder + "/self_tuning", ap::read_workloads(list + "/workloads.csv"), 1);
  CHECK(found.logs.size() == 9);
  CHECK(found.warnings.empty());
  CHECK(found.not_in_logs.size() == 12);
  const auto compare = [&](const ap::TimeTable& table, const std::string& file, double share) {
    const std::vector<Cell> expected = cells(folder + "/" + file);
    CHECK(expected.size() == 3);
    for (const Cell& cell : expected) {
      CAPTURE(cell.column);
      CHECK(table.at(table.find(cell.submission), table.suite.find(cell.column)) == near(cell.value, share));
    }
  };
  const ap::StudyTimes by_time = ap::study_times(found.suite, found.logs);
  compare(ap::median_times(by_time), "expected_time_to_target_wallclock.csv", 0);
  compare(ap::median_times(ap::study_times(found.suite, found.logs, {.clock = ap::Clock::steps})),
          "expected_time_to_target_steps.csv", 0);
  compare(ap::step_times(by_time, found.logs), "expected_step_time.csv", 1e-14);
  compare(ap::evaluation_shares(by_time, found.logs), "expected_eval_share.csv", 1e-14);
}

TEST_CASE("the log folders of two submissions give the times of AlgoPerf v0.5") {
  const std::string folder = data_path("algoperf-logs"), list = data_path("algoperf-v05");
  if (folder.empty() || list.empty()) return;
  const ap::OfficialLogs found =
      ap::read_official_logs(folder + "/external_tuning", ap::read_workloads(list + "/workloads.csv"), 5);
  CHECK(found.logs.size() == 100);
  CHECK(found.warnings.empty());
  const std::vector<PublishedRun> runs = published_runs(list);
  const PublishedRun& run = named(runs, "v05_external");
  for (const ap::TrialChoice choice : {ap::TrialChoice::fastest, ap::TrialChoice::first_by_index}) {
    const ap::TimeTable times = ap::median_times(ap::study_times(found.suite, found.logs, {.choice = choice}));
    const ap::TimeTable& expected = choice == ap::TrialChoice::fastest ? run.documented : run.official;
    for (std::size_t s = 0; s < times.submissions.size(); ++s)
      for (std::size_t w = 0; w < times.suite.workloads.size(); ++w)
        CHECK(times.at(s, w) ==
              near(expected.at(expected.find(times.submissions[s]), expected.suite.find(times.suite.workloads[w].name)),
                   1e-15));
  }
}

TEST_CASE("the contest of steps to a loss: 42 of 46 results are reproduced, 43 are valid") {
  const std::string folder = data_path("track3");
  if (folder.empty()) return;
  const std::vector<ap::Claim> claims = ap::read_claims(folder + "/claims.csv");
  const ap::Significance found =
      ap::check_claims(claims, ap::read_loss_curves(folder + "/curves.csv"), {.target = 3.28});
  std::vector<std::string> missing, as_meant;
  ap::detail::CsvRows rows(folder + "/claims.csv");
  for (const ap::CheckedClaim& claim : found.claims) {
    REQUIRE(rows.next());
    CHECK(claim.valid == (rows.text(rows.column("statistically_valid")) == "valid"));
    CHECK(claim.why.empty() == claim.as_it_stands);
    if (!claim.reproduced) missing.push_back(claim.claim.result);
    if (claim.reproduced && !claim.as_it_stands) as_meant.push_back(claim.claim.result);
  }
  CHECK(found.claims.size() == 46);
  CHECK(missing == std::vector<std::string>{"6", "8", "41", "46"});
  CHECK(as_meant == std::vector<std::string>{"16", "23", "32", "44"});
  CHECK(found.freedom == 369);
  CHECK(found.deviation == near(0.001112, 5e-4));
}
