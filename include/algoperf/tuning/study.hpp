// Study: tunes submissions on workloads by AlgoPerf's rules, in parallel, and survives anything. Requires
// nlohmann-json; POSIX only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../state/atomic_file.hpp"
#include "journal.hpp"
#include "search_space_json.hpp"
#include "trial.hpp"
#include "worker_pool.hpp"

namespace algoperf {

struct StudyOptions {
  std::string folder = "out";  // for the journal and the logs; made if it does not exist
  std::size_t studies = 3;     // repetitions of the tuning, each with its own points and seeds
  std::size_t trials = 5;      // points per study; 1 under the self-tuning ruleset
  std::uint64_t seed = 1;
  Search search = Search::halton;
  TrialOptions trial = {};  // budgets and evaluations of each trial; its seed is ignored
  std::size_t jobs = 1;     // trials at a time, each in a process of its own; 0: in this process
  std::size_t shard = 0;    // runs only trials whose number modulo `shards` is `shard`
  std::size_t shards = 1;
  bool sync = false;  // fsync the journal after each trial

  void check() const {
    trial.check();
    require(studies >= 1, "StudyOptions: studies is 0, expected at least 1");
    require(trials >= 1, "StudyOptions: trials is 0, expected at least 1");
    require(shard < shards, "StudyOptions: shard is ", shard, ", expected less than shards, which is ", shards);
  }
};

// A trial that has ended.
struct StudyRecord {
  std::string submission, workload;
  std::size_t study = 0, trial = 0;  // from 0
  HyperPoint point;
  std::string metric;  // of the workload
  TrialResult result;
};

namespace detail {

// The processor's name in records, so that seconds of different machines are not compared unawares.
inline std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "unknown";
}

inline nlohmann::ordered_json to_json(const TrialResult& result) {
  nlohmann::ordered_json evaluations = nlohmann::ordered_json::array();
  for (const EvaluationReport& e : result.evaluations)
    evaluations.push_back({e.step, e.training_seconds, e.evaluation_seconds, e.loss, e.metric});
  return {{"steps", result.steps},
          {"examples", result.examples},
          {"flops", result.flops},
          {"training_seconds", result.training_seconds},
          {"evaluation_seconds", result.evaluation_seconds},
          {"first_step_seconds", result.first_step_seconds},
          {"total_seconds", result.total_seconds},
          {"reached", result.reached},
          {"failure", result.failure},
          {"evaluations", evaluations}};
}

}  // namespace detail

// Adds workloads and submissions, then runs every trial that is not in the journal yet:
//   Study study({.folder = "out", .studies = 3, .trials = 5, .jobs = 2});
//   study.add(GlyphDigits{}, AdamW{}, MySubmission{});
//   study.run();
// Within a study, all workloads are tried with the same points of a submission. The seed of a trial depends on the
// seed of the study, the workload, the submission, and the numbers of study and trial. Each finished trial is a line of
// FOLDER/journal.jsonl, which is never changed. A study that was killed at any moment, parent or worker, continues from
// there when the program is run again. A trial that diverges, throws or crashes is a record with its failure.
// Run the trials alone (jobs = 1) where seconds are scored: neighbours slow each other down.
class Study {
 public:
  using Json = nlohmann::ordered_json;

  // Throws Error if an option is out of range.
  explicit Study(StudyOptions options) : options_(std::move(options)) { options_.check(); }

  // Throws Error if a submission was added to a workload of this name before, or if its search space is a list of too
  // few points.
  template <class W, class... S>
  void add(const W& workload, const S&... submissions) {
    (add_one(workload, submissions), ...);
  }
  // The same, with another search space than the submission's.
  template <class W, class S>
  void add_with_space(const W& workload, const S& submission, const SearchSpace& space) {
    Cell cell{.submission = S::name, .workload = W::name, .metric = workload.metric().name};
    for (const Cell& other : cells_)
      require(other.submission != cell.submission || other.workload != cell.workload, "Study: submission '",
              cell.submission, "' was added to workload '", cell.workload, "' twice");
    cell.space = to_json(space);
    for (std::size_t study = 0; study < options_.studies; ++study) {
      const std::uint64_t seed = RandomKey{options_.seed}.fold(hash(cell.submission)).fold(study).value;
      cell.points.push_back(search_points(space, options_.trials, seed, options_.search));
    }
    cell.load = [workload] {
      (void)workload.train();
      (void)workload.validation();
    };
    cell.run = [workload, submission](const HyperPoint& point, const TrialOptions& options) {
      return run_trial(workload, submission, point, options);
    };
    cells_.push_back(std::move(cell));
  }

  // Runs the trials that are missing, calls progress(finished, all) after each, and returns the records of all trials
  // that have ended. Throws Error if the journal belongs to another study.
  template <class Progress>
  std::vector<StudyRecord> run(const Progress& progress) {
    std::filesystem::create_directories(options_.folder);
    Journal journal(path(), settings(), {.sync = options_.sync});
    const std::size_t all = cells_.size() * options_.studies * options_.trials;
    std::vector<std::size_t> missing;
    std::size_t finished = 0;
    for (std::size_t i = 0; i < all; ++i)
      if (i % options_.shards == options_.shard) {
        finished += journal.records().contains(i);
        if (!journal.records().contains(i)) missing.push_back(i);
      }
    const std::size_t mine = finished + missing.size();
    for (const std::size_t i : missing)
      if (i == missing.front() || cell_of(i) != cell_of(i - 1)) cells_[cell_of(i)].load();
    const std::string processor = detail::processor_name();
    const auto work = [&](std::size_t i) {
      const Cell& cell = cells_[cell_of(i)];
      TrialOptions options = options_.trial;
      options.seed = RandomKey{options_.seed}
                         .fold(hash(cell.submission))
                         .fold(hash(cell.workload))
                         .fold(study_of(i))
                         .fold(i % options_.trials)
                         .value;
      return detail::to_json(cell.run(point_of(i), options)).dump(-1, ' ', false, Json::error_handler_t::replace);
    };
    run_in_processes(missing, options_.jobs, work, [&](const TaskResult& result) {
      const std::size_t i = result.task;
      Json record{{"submission", cells_[cell_of(i)].submission},
                  {"workload", cells_[cell_of(i)].workload},
                  {"study", study_of(i)},
                  {"number", i % options_.trials},
                  {"point", to_json(point_of(i))},
                  {"processor", processor}};
      TrialResult failed;
      failed.failure = result.failure;
      record.update(result.failure.empty() ? Json::parse(result.value) : detail::to_json(failed));
      journal.append(i, record);
      progress(++finished, mine);
    });
    return records(journal);
  }
  std::vector<StudyRecord> run() {
    return run([](std::size_t, std::size_t) {});
  }

  const StudyOptions& options() const { return options_; }
  std::string path() const { return options_.folder + "/journal.jsonl"; }

 private:
  // A submission on a workload.
  struct Cell {
    std::string submission, workload, metric;
    Json space = {};
    std::vector<std::vector<HyperPoint>> points = {};  // by study
    std::function<void()> load = {};                   // the data, once for all processes
    std::function<TrialResult(const HyperPoint&, const TrialOptions&)> run = {};
  };

  template <class W, class S>
  void add_one(const W& workload, const S& submission) {
    static_assert(detail::explain_submission<S>());
    add_with_space(workload, submission, submission.search_space());
  }

  // FNV-1a: the same on every machine.
  static std::uint64_t hash(const std::string& text) {
    std::uint64_t sum = 14695981039346656037u;
    for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return sum;
  }
  std::size_t cell_of(std::size_t i) const { return i / (options_.studies * options_.trials); }
  std::size_t study_of(std::size_t i) const { return i / options_.trials % options_.studies; }
  const HyperPoint& point_of(std::size_t i) const {
    return cells_[cell_of(i)].points[study_of(i)][i % options_.trials];
  }

  // What must not change when a study continues.
  Json settings() const {
    constexpr const char* searches[] = {"halton", "sobol", "random", "official"};
    Json cells = Json::array();
    for (const Cell& cell : cells_)
      cells.push_back({{"submission", cell.submission}, {"workload", cell.workload}, {"space", cell.space}});
    return {{"studies", options_.studies},
            {"trials", options_.trials},
            {"seed", options_.seed},
            {"search", searches[static_cast<std::size_t>(options_.search)]},
            {"steps", options_.trial.steps},
            {"seconds", options_.trial.seconds < __DBL_MAX__ ? Json(options_.trial.seconds) : Json(nullptr)},
            {"evaluate_every", options_.trial.evaluate_every},
            {"stop_at_target", options_.trial.stop_at_target},
            {"threads", options_.trial.threads},
            {"cells", cells}};
  }

  std::vector<StudyRecord> records(const Journal& journal) const {
    std::vector<StudyRecord> found;
    for (const auto& [i, json] : journal.records()) {
      require(i < cells_.size() * options_.studies * options_.trials, path(), ": there is no trial ", i);
      const Cell& cell = cells_[cell_of(i)];
      StudyRecord record{cell.submission, cell.workload, study_of(i), i % options_.trials,
                         point_of(i),     cell.metric,   {}};
      try {
        read(json, record.result);
      } catch (const Json::exception& error) {
        fail(path(), ": the record of trial ", i, " is damaged: ", error.what());
      }
      found.push_back(std::move(record));
    }
    return found;
  }

  static double number(const Json& json) { return json.is_null() ? NAN : json.get<double>(); }  // JSON has no NaN

  static void read(const Json& json, TrialResult& result) {
    result.steps = json.at("steps").get<std::uint64_t>();
    result.examples = json.at("examples").get<std::uint64_t>();
    result.flops = number(json.at("flops"));
    result.training_seconds = number(json.at("training_seconds"));
    result.evaluation_seconds = number(json.at("evaluation_seconds"));
    result.first_step_seconds = number(json.at("first_step_seconds"));
    result.total_seconds = number(json.at("total_seconds"));
    result.reached = json.at("reached").get<bool>();
    result.failure = json.at("failure").get<std::string>();
    for (const Json& e : json.at("evaluations"))
      result.evaluations.push_back({.step = e.at(0).get<std::uint64_t>(),
                                    .loss = number(e.at(3)),
                                    .metric = number(e.at(4)),
                                    .training_seconds = number(e.at(1)),
                                    .evaluation_seconds = number(e.at(2))});
  }
  StudyOptions options_;
  std::vector<Cell> cells_;
};

// Writes the records in the layout of AlgoPerf's logs, which score_leaderboard --logs and AlgoPerf's own scorer read:
//   FOLDER/<submission>/study_<i>/<workload>_algoperf/trial_<j>/measurements.csv and hparams.json
// with studies from 0 and trials from 1. Existing files are replaced.
inline void write_official_logs(const std::string& folder, const std::vector<StudyRecord>& records) {
  for (const StudyRecord& record : records) {
    const std::string place = folder + "/" + record.submission + "/study_" + std::to_string(record.study) + "/" +
                              record.workload + "_algoperf/trial_" + std::to_string(record.trial + 1);
    std::filesystem::create_directories(place);
    std::string rows =
        "accumulated_eval_time,accumulated_logging_time,accumulated_submission_time,global_step,preemption_count,score,"
        "total_duration,validation/" +
        record.metric + ",validation/loss\n";
    for (const EvaluationReport& e : record.result.evaluations) {
      char row[256];
      std::snprintf(row, sizeof row, "%.17g,0,%.17g,%llu,0,%.17g,%.17g,%.17g,%.17g\n", e.evaluation_seconds,
                    e.training_seconds, static_cast<unsigned long long>(e.step), e.training_seconds,
                    e.training_seconds + e.evaluation_seconds, e.metric, e.loss);
      rows += row;
    }
    AtomicFile measurements(place + "/measurements.csv");
    measurements.write(rows);
    measurements.commit();
    AtomicFile point(place + "/hparams.json");
    point.write(to_json(record.point).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    point.commit();
  }
}

}  // namespace algoperf
