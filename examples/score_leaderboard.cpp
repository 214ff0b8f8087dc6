// Scores training algorithms from the logs of their runs: times to target, performance profiles, benchmark scores with
// intervals. It reads the compact form of AlgoPerf's logs, the folders that AlgoPerf's harness writes, or a table of
// times.
//   score_leaderboard FOLDER
//   score_leaderboard --logs FOLDER --workloads workloads.csv --ruleset external
//   score_leaderboard --paper times.csv
#include <algoperf/scoring/all.hpp>
#include <algoperf/scoring/readers/all.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"

namespace ap = algoperf;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
  std::string compact, logs, workloads, ruleset, paper, rule = "documented", integral = "exact", clock = "time";
  std::size_t bootstrap = 1000;
  double level = 0.95;
  std::uint64_t seed = 1;
  bool json = false;

  ap::TimeRules rules() const {
    return {.clock = clock == "time" ? ap::Clock::time : ap::Clock::steps,
            .choice = rule == "documented" ? ap::TrialChoice::fastest : ap::TrialChoice::first_by_index};
  }
  ap::Integral area() const { return integral == "exact" ? ap::Integral::exact : ap::Integral::trapezoid; }
};

// Everything that is known of one set of submissions.
struct Scored {
  ap::TimeTable times;  // before the rules for held-out workloads
  std::optional<ap::ScoreBootstrap> bootstrap = {};
  std::optional<ap::TimeTable> step_times = {}, evaluation_shares = {};
};

struct Leaderboard {
  std::vector<Scored> datasets = {};
  std::vector<std::string> not_in_logs = {}, warnings = {};
};

Scored score_studies(const Options& options, const ap::StudyTimes& studies) {
  Scored scored{.times = ap::median_times(studies)};
  if (options.bootstrap > 0)
    scored.bootstrap = ap::bootstrap_scores(
        studies,
        {.samples = options.bootstrap, .level = options.level, .seed = options.seed, .integral = options.area()});
  return scored;
}

Leaderboard read(const Options& options) {
  Leaderboard board;
  if (!options.paper.empty()) {
    for (const ap::TimeTable& times : ap::read_time_tables(options.paper)) board.datasets.push_back({times});
  } else if (!options.logs.empty()) {
    const std::size_t trials = options.ruleset == "external" ? 5 : 1;
    ap::OfficialLogs found = ap::read_official_logs(options.logs, ap::read_workloads(options.workloads), trials);
    found.suite.name = "logs";
    const ap::StudyTimes studies = ap::study_times(found.suite, found.logs, options.rules());
    board.datasets.push_back(score_studies(options, studies));
    board.datasets.back().step_times = ap::step_times(studies, found.logs);
    board.datasets.back().evaluation_shares = ap::evaluation_shares(studies, found.logs);
    board.not_in_logs = found.not_in_logs;
    board.warnings = found.warnings;
  } else {
    for (const ap::ScoredDataset& dataset : ap::read_compact_logs(options.compact)) {
      board.datasets.push_back(score_studies(options, ap::study_times(dataset.suite, dataset.logs, options.rules())));
      for (const std::string& sentence : ap::missing_logs(dataset.suite, dataset.logs))
        board.warnings.push_back(dataset.suite.name + ": " + sentence);
    }
  }
  return board;
}

// Returns the entries of a table by submission and workload; null for what is not finite.
Json table_to_json(const ap::TimeTable& table) {
  Json json = Json::object();
  for (std::size_t s = 0; s < table.submissions.size(); ++s) {
    Json& row = json[table.submissions[s]] = Json::object();
    for (std::size_t w = 0; w < table.suite.workloads.size(); ++w)
      row[table.suite.workloads[w].name] = std::isfinite(table.at(s, w)) ? Json(table.at(s, w)) : Json(nullptr);
  }
  return json;
}

void print_json(const Options& options, const Leaderboard& board) {
  Json json{{"scores", Json::object()},     {"time_to_target", Json::object()}, {"step_time", Json::object()},
            {"eval_share", Json::object()}, {"intervals", Json::object()},      {"not_in_logs", board.not_in_logs},
            {"warnings", board.warnings}};
  for (const Scored& scored : board.datasets) {
    const std::string& name = scored.times.suite.name;
    const ap::PerformanceProfile profile(ap::counted_times(scored.times));
    Json &scores = json["scores"][name] = Json::object(), &intervals = json["intervals"][name] = Json::object();
    for (std::size_t s = 0; s < profile.submissions().size(); ++s) {
      scores[profile.submissions()[s]] = profile.score(s, options.area());
      if (scored.bootstrap) {
        const ap::Interval interval = scored.bootstrap->intervals[s];
        intervals[profile.submissions()[s]] = {interval.low, interval.high};
      }
    }
    json["time_to_target"][name] = table_to_json(scored.times);
    if (scored.step_times) json["step_time"][name] = table_to_json(*scored.step_times);
    if (scored.evaluation_shares) json["eval_share"][name] = table_to_json(*scored.evaluation_shares);
  }
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

// Prints a row per submission, the best first, and a column per workload.
void print_table(const char* title, const ap::TimeTable& table, const std::vector<std::size_t>& order) {
  std::size_t width = 12;
  for (const std::string& name : table.submissions) width = std::max(width, name.size());
  std::printf("\n%s\n%*s", title, static_cast<int>(width), "");
  std::vector<int> widths;
  for (const ap::ScoredWorkload& workload : table.suite.workloads) {
    widths.push_back(static_cast<int>(std::max<std::size_t>(workload.name.size(), 7)));
    std::printf("  %*s", widths.back(), workload.name.c_str());
  }
  for (const std::size_t s : order) {
    std::printf("\n%-*s", static_cast<int>(width), table.submissions[s].c_str());
    for (std::size_t w = 0; w < widths.size(); ++w) {
      char text[32] = "-";
      if (std::isinf(table.at(s, w))) std::snprintf(text, sizeof text, "missed");
      if (std::isfinite(table.at(s, w)))
        std::snprintf(text, sizeof text, table.at(s, w) < 1000 ? "%.4g" : "%.0f", table.at(s, w));
      std::printf("  %*s", widths[w], text);
    }
  }
  std::puts("");
}

void print_text(const Options& options, const Leaderboard& board) {
  for (const Scored& scored : board.datasets) {
    const ap::PerformanceProfile profile(ap::counted_times(scored.times));
    std::vector<std::size_t> order(profile.submissions().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto score = [&](std::size_t s) { return profile.score(s, options.area()); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
    std::printf("== %s: %zu submissions, %zu base workloads ==\n", scored.times.suite.name.c_str(), order.size(),
                scored.times.suite.base_count());
    for (const std::size_t s : order) {
      std::printf("%-28s %.4f", profile.submissions()[s].c_str(), score(s));
      if (scored.bootstrap)
        std::printf("  [%.3f, %.3f]  first in %2.0f %%", scored.bootstrap->intervals[s].low,
                    scored.bootstrap->intervals[s].high, 100 * scored.bootstrap->winner_share[s]);
      std::puts("");
    }
    if (scored.bootstrap)
      std::printf("intervals of %g %% and ranks from %zu bootstrap samples of the studies\n", 100 * options.level,
                  options.bootstrap);
    const bool steps = options.paper.empty() ? options.clock == "steps" : scored.times.suite.name == "steps";
    print_table(steps ? "steps to target" : "seconds to target", scored.times, order);
    if (scored.step_times) print_table("seconds per training step", *scored.step_times, order);
    if (scored.evaluation_shares)
      print_table("share of evaluations in the time of a trial", *scored.evaluation_shares, order);
    std::puts("");
  }
  if (!board.not_in_logs.empty()) {
    std::printf("no logs of:");
    for (const std::string& name : board.not_in_logs) std::printf(" %s", name.c_str());
    std::puts("");
  }
  for (const std::string& warning : board.warnings) std::printf("warning: %s\n", warning.c_str());
}

}  // namespace

int main(int count, char** words) {
  Options options;
  CommandLine line("Scores training algorithms from the logs of their runs.");
  line.option("folder", options.compact, "datasets.csv, workloads.csv, trials.csv and curves.csv are here");
  line.option("--logs", options.logs, "logs as AlgoPerf's harness writes them");
  line.option("--workloads", options.workloads, "with --logs: a CSV file of metrics and targets");
  line.option("--ruleset", options.ruleset, "with --logs: external (5 trials per study) or self (1 trial)")
      .one_of({"external", "self"});
  line.option("--paper", options.paper, "a CSV table of times: clock, submission, and a column per workload");
  line.option("--rule", options.rule, "the trial that counts: documented (fastest) or official (first by index)")
      .one_of({"documented", "official"})
      .shows_default();
  line.option("--integral", options.integral, "exact, or trapezoid at 100 points")
      .one_of({"exact", "trapezoid"})
      .shows_default();
  line.option("--clock", options.clock, "time or steps").one_of({"time", "steps"}).shows_default();
  line.option("--bootstrap", options.bootstrap, "bootstrap samples; 0: no intervals").whole(0, 1000000).shows_default();
  line.option("--level", options.level, "of the intervals").real(0.01, 0.999).shows_default();
  line.option("--seed", options.seed, "of the bootstrap").whole(0, UINT64_MAX).shows_default();
  line.flag("--json", options.json, "print one JSON object");
  line.parse(count, words);
  try {
    const int sources = !options.compact.empty() + !options.logs.empty() + !options.paper.empty();
    ap::require(sources == 1, "expected either a folder, --logs or --paper");
    ap::require(options.logs.empty() || (!options.workloads.empty() && !options.ruleset.empty()),
                "--logs needs --workloads and --ruleset");
    const Leaderboard board = read(options);
    options.json ? print_json(options, board) : print_text(options, board);
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "score_leaderboard: %s\n", error.what()), 1;
  }
}
