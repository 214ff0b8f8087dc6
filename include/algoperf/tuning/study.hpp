// Study: tunes submissions on workloads by AlgoPerf's rules, in parallel, and continues after it was killed. Requires
// nlohmann-json; POSIX only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../scoring/time_to_target.hpp"
#include "entry.hpp"
#include "journal.hpp"
#include "search_space_json.hpp"
#include "study_record.hpp"
#include "task_runner.hpp"
#include "worker_pool.hpp"

namespace algoperf {

// How hyperparameters are chosen.
//   external       each study tries points of the submission's search space; its fastest trial counts
//   self_tuning    each study is one trial with the submission's default point and 1.5 times the budget
// Source: Dahl et al. 2023, section 4.3; the factor is that of AlgoPerf v0.6 (3 before).
enum class Ruleset { external, self_tuning };

struct StudyOptions {
  std::string folder = "out";  // for the journal and the logs; made if it does not exist
  std::size_t studies = 3;  // repetitions of the tuning, each with its own seeds and (but for Search::official) points
  std::size_t trials = 5;   // points per study; ignored under the self-tuning ruleset
  Ruleset ruleset = Ruleset::external;
  std::uint64_t seed = 1;
  Search search = Search::halton;
  TrialOptions trial = {};  // budgets and evaluations of each trial; its seed is ignored
  std::size_t jobs = 1;     // trials at a time, each in a process forked from this one; 0: in this process
  std::size_t shard = 0;    // runs only trials whose number modulo `shards` is `shard`
  std::size_t shards = 1;
  std::shared_ptr<TaskRunner> runner = {};  // runs trials instead of `jobs` processes, e.g. RankRunner
  bool sync = false;                        // fsync the journal after each trial
  Clock clock = Clock::time;                // of the ranking that compare() reports

  // Whether this process writes the journal and reports.
  bool is_root() const { return algoperf::is_root(runner); }
  void check() const {
    trial.check();
    require(studies >= 1, "StudyOptions: studies is 0, expected at least 1");
    require(trials >= 1, "StudyOptions: trials is 0, expected at least 1");
    require(shard < shards, "StudyOptions: shard is ", shard, ", expected less than shards, which is ", shards);
  }
};

namespace detail {

// The processor's name in records, so that seconds of different machines are not compared unawares. Linux on ARM gives
// numbers of implementer and part instead of a name.
inline std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string name;
  for (std::string line; std::getline(file, line) && !(line.empty() && !name.empty());)
    for (const char* const field : {"model name", "CPU implementer", "CPU part"})
      if (line.starts_with(field))
        name += (name.empty() ? "" : " ") + line.substr(std::min(line.find(": ") + 2, line.size()));
  return name.empty() ? "unknown" : name;
}

}  // namespace detail

// Adds workloads and submissions, then runs every trial that is not in the journal yet:
//   Study study({.folder = "out", .studies = 3, .trials = 5, .jobs = 2});
//   study.add(GlyphDigits{}, AdamWBaseline{}, MySubmission{});
//   study.run();
// Within one of the `studies`, a submission is tried at the same points on all workloads. The seed of a trial depends
// on StudyOptions::seed, the workload, the submission, the number of the study and the number of the trial. Each
// finished trial is a line of FOLDER/journal.jsonl; lines are appended and never changed. If the program is killed at
// any moment, run it again to continue. A trial that diverges, throws, crashes or is killed is a record with its
// failure; to repeat it, delete its line from the journal. To score by seconds, run one trial at a time (jobs = 1):
// concurrent trials slow each other down.
class Study {
 public:
  using Json = nlohmann::ordered_json;

  // Throws Error if an option is out of range.
  explicit Study(StudyOptions options) : options_(std::move(options)) {
    options_.check();
    if (options_.ruleset == Ruleset::external) return;
    options_.trials = 1;
    options_.trial.budget_factor *= 1.5;
  }

  // Adds submissions on a workload. Throws Error if a submission was added to a workload of this name before, or if its
  // search space is a list of too few points.
  template <class W, class... S>
  requires(sizeof...(S) > 0) void add(const W& workload, const S&... submissions) {
    (add(study_entry(workload, submissions)), ...);
  }
  void add(const StudyEntry& entry) {
    for (const StudyEntry& other : entries_)
      require(other.submission != entry.submission || other.workload.name != entry.workload.name, "Study: submission '",
              entry.submission, "' was added to workload '", entry.workload.name, "' twice");
    std::vector<std::vector<HyperPoint>> points;
    for (std::size_t study = 0; study < options_.studies; ++study) {
      const std::uint64_t seed = RandomKey{options_.seed}.fold(detail::hash_text(entry.submission)).fold(study).value;
      if (options_.ruleset == Ruleset::external)
        points.push_back(search_points(entry.space, options_.trials, seed, options_.search));
      else
        points.push_back({entry.default_point()});
    }
    entries_.push_back(entry);
    points_.push_back(std::move(points));
  }
  // Adds a submission with another search space than its own.
  template <class W, class S>
  void add_with_space(const W& workload, const S& submission, const SearchSpace& space) {
    StudyEntry entry = study_entry(workload, submission);
    entry.space = space;
    add(entry);
  }

  // Runs the trials that are missing, calls progress(finished, all) after each (on the root of a runner), and returns
  // the records of all trials that have ended. Throws Error if the journal belongs to another study.
  template <class Progress>
  std::vector<StudyRecord> run(const Progress& progress) {
    suite().check();
    const auto opened = detail::open_journal(options_.runner, path(), settings(), options_.sync);
    Journal& journal = *opened;
    const std::size_t all = entries_.size() * options_.studies * options_.trials;
    std::vector<std::size_t> missing;
    std::size_t finished = 0;
    for (std::size_t i = 0; i < all; ++i)
      if (i % options_.shards == options_.shard) {
        finished += journal.records().contains(i);
        if (!journal.records().contains(i)) missing.push_back(i);
      }
    const std::size_t mine = finished + missing.size();
    const StudyEntry* loaded = nullptr;
    for (const std::size_t i : missing)
      if (&entry_of(i) != loaded) (loaded = &entry_of(i))->load();
    const std::string processor = detail::processor_name();
    const auto work = [&](std::size_t i) {
      const StudyEntry& entry = entry_of(i);
      TrialOptions options = options_.trial;
      options.seed = RandomKey{options_.seed}
                         .fold(detail::hash_text(entry.submission))
                         .fold(detail::hash_text(entry.workload.name))
                         .fold(study_of(i))
                         .fold(i % options_.trials)
                         .value;
      Json result = detail::to_json(entry.run(point_of(i), options));
      result["processor"] = processor;  // of the rank that ran it
      return result.dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    detail::run_tasks(options_.runner, options_.jobs, missing, work, [&](const TaskResult& result) {
      const std::size_t i = result.task;
      Json record{{"submission", entry_of(i).submission},
                  {"workload", entry_of(i).workload.name},
                  {"study", study_of(i)},
                  {"number", i % options_.trials},
                  {"point", to_json(point_of(i))},
                  {"processor", processor},
                  {"jobs", options_.runner ? options_.runner->jobs() : std::max<std::size_t>(options_.jobs, 1)}};
      TrialResult failed;
      failed.failure = result.failure;
      record.update(result.failure.empty() ? Json::parse(result.value) : detail::to_json(failed));
      journal.append(i, record);
      ++finished;
      if (options_.is_root()) progress(finished, mine);
    });
    return records_of(journal.records());
  }
  std::vector<StudyRecord> run() {
    return run([](std::size_t, std::size_t) {});
  }

  // Returns the records of the trials that have ended, without running any. Throws Error if there is no journal, or if
  // it belongs to another study.
  std::vector<StudyRecord> records() const {
    std::ifstream file(path(), std::ios::binary);
    require(static_cast<bool>(file), path(), ": cannot be opened");
    const JournalContents found = parse_journal({std::istreambuf_iterator<char>(file), {}}, path());
    require_settings(found.settings, settings(), path() + ":1: settings");
    return records_of(found.records);
  }

  const StudyOptions& options() const { return options_; }
  const std::vector<StudyEntry>& entries() const { return entries_; }
  // Returns the workloads and their targets, for scores. A variant whose base workload is not in the study counts as a
  // base workload.
  Suite suite() const {
    Suite suite{.name = "study", .studies = options_.studies, .trials = options_.trials};
    for (const StudyEntry& entry : entries_)
      if (suite.find(entry.workload.name) == Suite::none) suite.workloads.push_back(entry.workload);
    for (ScoredWorkload& workload : suite.workloads)
      if (suite.find(workload.base) == Suite::none) workload.base = workload.name;
    return suite;
  }
  std::string path() const { return options_.folder + "/journal.jsonl"; }

 private:
  const StudyEntry& entry_of(std::size_t i) const { return entries_[i / (options_.studies * options_.trials)]; }
  std::size_t study_of(std::size_t i) const { return i / options_.trials % options_.studies; }
  const HyperPoint& point_of(std::size_t i) const {
    return points_[i / (options_.studies * options_.trials)][study_of(i)][i % options_.trials];
  }

  // What must not change when a study continues.
  Json settings() const {
    constexpr const char* searches[] = {"halton", "sobol", "random", "official"};
    Json cells = Json::array();
    for (const StudyEntry& entry : entries_) {
      const ScoredWorkload& workload = entry.workload;
      cells.push_back({{"submission", entry.submission},
                       {"workload", workload.name},
                       {"metric", workload.metric},
                       {"target", workload.target.value},
                       {"lower_is_better", workload.target.lower_is_better},
                       {"step_hint", entry.step_hint},
                       {"batch_size", entry.batch_size}});
      if (options_.ruleset == Ruleset::external)
        cells.back()["space"] = to_json(entry.space);
      else
        cells.back()["point"] = to_json(entry.default_point());
    }
    Json settings{{"studies", options_.studies},
                  {"trials", options_.trials},
                  {"seed", options_.seed},
                  {"search", searches[static_cast<std::size_t>(options_.search)]},
                  {"ruleset", options_.ruleset == Ruleset::external ? "external" : "self-tuning"},
                  {"steps", options_.trial.steps},
                  {"seconds", options_.trial.seconds < __DBL_MAX__ ? Json(options_.trial.seconds) : Json(nullptr)},
                  {"budget_factor", options_.trial.budget_factor},
                  {"step_hint_factor", options_.trial.step_hint_factor},
                  {"evaluate_every", options_.trial.evaluate_every},
                  {"stop_at_target", options_.trial.stop_at_target},
                  {"threads", options_.trial.threads},
                  {"cells", cells}};
    // Journals of earlier versions lack these.
    if (options_.trial.evaluate_growth != 1) settings["evaluate_growth"] = options_.trial.evaluate_growth;
    if (options_.trial.batch_size != 0) settings["batch_size"] = options_.trial.batch_size;
    return settings;
  }

  std::vector<StudyRecord> records_of(const std::map<std::uint64_t, Json>& lines) const {
    std::vector<StudyRecord> found;
    for (const auto& [i, json] : lines) {
      require(i < entries_.size() * options_.studies * options_.trials, path(), ": there is no trial ", i);
      require(json.value("point", Json()) == to_json(point_of(i)), path(), ": trial ", i,
              " has another point than this study");
      const ScoredWorkload& workload = entry_of(i).workload;
      StudyRecord record{.submission = entry_of(i).submission,
                         .workload = workload.name,
                         .study = study_of(i),
                         .trial = i % options_.trials,
                         .point = point_of(i),
                         .metric = workload.metric,
                         .processor = json.value("processor", "unknown"),
                         .result = {}};
      try {
        record.jobs = json.value("jobs", std::size_t{1});
        record.result = detail::trial_result(json);
      } catch (const Json::exception& error) {
        fail(path(), ": the record of trial ", i, " is damaged: ", error.what());
      }
      found.push_back(std::move(record));
    }
    return found;
  }

  StudyOptions options_;
  std::vector<StudyEntry> entries_;
  std::vector<std::vector<std::vector<HyperPoint>>> points_;  // by entry, study and trial
};

}  // namespace algoperf
