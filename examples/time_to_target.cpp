// Compares training algorithms by time to target, by AlgoPerf's rules: each submission is tuned on each workload, only
// training is on the clock, and targets apply to validation data. Ends with a table and an HTML report.
#include <CLI/CLI.hpp>
#include <algoperf/backend/host/describe.hpp>
#include <algoperf/tuning/clock_noise.hpp>
#include <algoperf/tuning/compare.hpp>
#include <algoperf/tuning/find_target.hpp>
#include <algoperf/tuning/merge_journals.hpp>
#include <algoperf/tuning/study_logs.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "command_line/flags.hpp"
#include "time_to_target/options.hpp"

namespace ap = algoperf;

namespace {

const char* const title = "Training algorithms by time to target";

// Seconds are comparable where trials ran alone. Where they did not, measures what the neighbours cost.
void print_slowdown(const ap::Study& study) {
  const ap::StudyEntry& entry = study.entries().back();
  const ap::TrialOptions some_steps{
      .steps = 100, .evaluate_every = 100, .stop_at_target = false, .threads = study.options().trial.threads};
  const double slowdown = ap::neighbour_slowdown(entry, entry.default_point(), some_steps, study.options().jobs);
  fmt::print(
      "{} trials ran at a time. A trial of {} on {} takes {:.2f} times as long beside its neighbours as alone, "
      "so these seconds are not those of trials that ran alone.\n",
      study.options().jobs, entry.submission, entry.workload.name, slowdown);
}

// Runs the trials that are missing. `begin`: whether the options may be those of a new study.
void run(const Options& options, bool begin) {
  ap::Study study = make_study(options);
  if (begin && study.options().is_root()) keep_options(options);
  if (study.options().is_root())
    std::fputs(ap::describe(ap::Host<>{.threads = study.options().trial.threads}).c_str(), stderr);
  const std::vector<ap::StudyRecord> records = ap::run_with_progress(study);
  if (!study.options().is_root()) return;
  if (options.shards > 1) {
    fmt::print("Shard {} of {} has ended: {}. When all have, join them with: merge {} --out FOLDER\n", options.shard,
               options.shards, study.path(), std::filesystem::path(options.out).parent_path().string());
    return;
  }
  ap::report_study(study, records, title, clock_of(options));
  if (options.jobs > 1 && options.clock == "time" && !study.options().runner) print_slowdown(study);
}

void report(const Options& options) {
  const ap::Study study = make_study(options);
  ap::report_study(study, study.records(), title, clock_of(options));
}

// Joins the shards of the study in `from`, each in a folder of its own there.
void merge(const std::string& from, Options options, const std::string& clock) {
  std::vector<std::string> folders, journals;
  for (const auto& each : std::filesystem::directory_iterator(from))
    if (each.path().filename().string().starts_with("shard_")) folders.push_back(each.path().string());
  ap::require(!folders.empty(), from, ": there is no folder shard_*");
  std::sort(folders.begin(), folders.end());
  for (const std::string& folder : folders) journals.push_back(folder + "/journal.jsonl");
  if (const std::string merged = options.out + "/journal.jsonl"; std::filesystem::exists(merged))
    journals.push_back(merged);
  const std::string out = options.out;
  options = read_options(folders.front());
  options.out = out;
  options.shard = 0;
  options.shards = 1;
  if (!clock.empty()) options.clock = clock;
  keep_options(options);
  ap::merge_journals(journals, out + "/journal.jsonl", {.same_processor = options.clock == "time"});
  report(options);
}

// Searches for a target of each workload.
void targets(const Options& options, std::size_t points, std::size_t seeds) {
  std::vector<ap::StudyEntry> entries = selected_entries(options);
  std::string csv = "workload,metric,target,least,most,submission,point\n";
  for (const std::string& workload : names_of(entries, workload_of)) {
    std::vector<ap::StudyEntry> of;
    for (const ap::StudyEntry& entry : entries)
      if (entry.workload.name == workload) of.push_back(entry);
    const ap::FoundTarget found = ap::find_target(of, {.points = points,
                                                       .seeds = seeds,
                                                       .seed = options.seed,
                                                       .trial = {.steps = options.steps,
                                                                 .step_hint_factor = options.step_hint_factor,
                                                                 .evaluate_every = options.every,
                                                                 .threads = options.threads},
                                                       .jobs = options.jobs,
                                                       .folder = options.out + "/targets"});
    const auto [least, most] = std::minmax_element(found.metrics.begin(), found.metrics.end());
    std::string point;
    for (const auto& [name, value] : found.point.entries())
      point += fmt::format("{}{}={}", point.empty() ? "" : " ", name, ap::detail::value_text(value));
    const std::string row = fmt::format("{},{},{:.6g},{:.6g},{:.6g},{},{}\n", workload, of.front().workload.metric,
                                        found.target.value, *least, *most, found.submission, point);
    fmt::print("{}", row);
    std::fflush(stdout);
    csv += row;
  }
  ap::write_file(options.out + "/targets.csv", csv);
  fmt::print("Wrote {}/targets.csv\n", options.out);
}

// Repeats the point of the fastest trial on each workload.
void noise(const Options& options, std::size_t runs) {
  const ap::Study study = make_study(options);
  const std::vector<ap::StudyRecord> records = study.records();
  const std::vector<ap::TrialLog> logs = ap::trial_logs(records);
  fmt::print("{:<24} {:<20} {:>10} {:>10} {:>22} {:>14}\n", "workload", "submission", "mean s", "variation",
             "runs for 1 % (5 %)", "2 at a time");
  for (const ap::ScoredWorkload& workload : study.suite().workloads) {
    const ap::StudyRecord* fastest = nullptr;
    double least = INFINITY;
    for (std::size_t i = 0; i < records.size(); ++i)
      if (const ap::Evaluation* const hit = ap::first_hit(logs[i], workload.target);
          records[i].workload == workload.name && hit != nullptr && hit->seconds < least)
        least = hit->seconds, fastest = &records[i];
    if (fastest == nullptr) {
      fmt::print("{:<24} no trial reached the target\n", workload.name);
      continue;
    }
    for (const ap::StudyEntry& entry : study.entries()) {
      if (entry.workload.name != workload.name || entry.submission != fastest->submission) continue;
      ap::TrialOptions trial = study.options().trial;
      trial.seed = 1;
      trial.steps = fastest->result.steps;
      trial.budget_factor = 1;
      trial.evaluate_every = trial.steps;
      trial.stop_at_target = false;
      const ap::ClockNoise found = ap::clock_noise(ap::repeat_trial(entry, fastest->point, trial, runs));
      fmt::print("{:<24} {:<20} {:>10.3f} {:>8.2f} % {:>14} ({:>5}) {:>14.2f}\n", workload.name, entry.submission,
                 found.mean, 100 * found.variation, found.runs_for(0.01), found.runs_for(0.05),
                 ap::neighbour_slowdown(entry, fastest->point, trial, 2));
    }
  }
}

nlohmann::ordered_json read_json(const std::string& path) {
  std::ifstream file(path);
  ap::require(static_cast<bool>(file), path, ": cannot be opened");
  try {
    return nlohmann::ordered_json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    ap::fail(path, ": ", error.what());
  }
}

// Reads I/N, or the variables of a SLURM job array. A shard has a folder of its own.
void read_shard(const std::string& text, Options& options) {
  std::string shard = text;
  if (const char* const id = std::getenv("SLURM_ARRAY_TASK_ID"), * const count = std::getenv("SLURM_ARRAY_TASK_COUNT");
      text.empty() && id != nullptr && count != nullptr) {
    // If only some tasks of an array are submitted, N is unknown.
    const char* const last = std::getenv("SLURM_ARRAY_TASK_MAX");
    ap::require(last == nullptr || std::strtoull(last, nullptr, 10) + 1 == std::strtoull(count, nullptr, 10),
                "the SLURM array has ", count, " tasks and ends with task ", last == nullptr ? "" : last,
                ", expected tasks from 0 without a gap; pass --shard I/N");
    shard = std::string(id) + "/" + count;
  }
  if (shard.empty()) return;
  char* slash = nullptr;
  char* end = nullptr;
  options.shard = std::strtoull(shard.c_str(), &slash, 10);
  options.shards = *slash == '/' ? std::strtoull(slash + 1, &end, 10) : 0;
  ap::require(end != nullptr && *end == 0 && options.shard < options.shards, "--shard is '", shard,
              "', expected I/N with I from 0 to N - 1");
  if (options.shards > 1) options.out += fmt::format("/shard_{}", options.shard);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Tunes training algorithms on workloads, and ranks them by their time to a validation target.\n"
      "Workloads on files read them from the folder ALGOPERF_DATA; glyphs_*, phantoms_*, markov_*, motif_*, "
      "touch_tones_*, "
      "reversed_* and synthetic_* need none.");
  const auto list = [](const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); };
  const std::vector<ap::StudyEntry> all = all_entries();
  std::vector<std::string> bases;
  for (const ap::StudyEntry& entry : all) bases.push_back(entry.workload.base);
  bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
  std::sort(bases.begin(), bases.end());
  bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
  const auto whole = [&](const char* name, auto& value, const char* help, std::uint64_t least) {
    app.add_option(name, value, help)->capture_default_str()->check(flags::whole(least, 1000000000));
  };
  app.add_option("--submissions", options.submissions, "all, or some of " + list(names_of(all, submission_of)))
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--workloads", options.workloads, "all, or some of " + list(bases) + ", and of their variants")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--ruleset", options.ruleset, "external, or self: one trial per study, with a longer budget")
      ->capture_default_str();
  whole("--studies", options.studies, "repetitions of the tuning", 1);
  whole("--trials", options.trials, "points of the search space per study", 1);
  std::string space_file, shard, clock;
  app.add_option(
      "--search-space", space_file,
      "narrow (default), published, or a JSON file with a search space for all submissions, or with an object "
      "of search spaces by submission");
  app.add_option("--search", options.search, list(searches))->capture_default_str();
  app.add_flag("--variants", options.variants, "all variants of the workloads, as held-out workloads");
  whole("--held-out", options.held_out, "one variant of each workload, drawn with this seed; 0: none", 0);
  app.add_option("--clock", clock, "score by " + list(clocks) + " (default: time)");
  whole("--steps", options.steps, "budget of a trial; 0: the workload's step hint", 0);
  whole("--every", options.every, "steps between evaluations; 0: a 25th of the step hint", 0);
  app.add_option("--step-hint-factor", options.step_hint_factor,
                 "multiplies the step hint that submissions get, and so the length of their schedules")
      ->capture_default_str()
      ->check(flags::real(0, 100, true));
  whole("--seed", options.seed, "of points and trials", 0);
  whole("--jobs", options.jobs, "trials at a time; neighbours slow each other down", 1);
  app.add_option("--threads", options.threads, "threads of a trial")
      ->capture_default_str()
      ->check(flags::whole(1, ap::ThreadPool::max_threads));
  app.add_option("--shard", shard, "I/N: only trials whose number is I modulo N (default: that of a SLURM array)");
  app.add_option("--out", options.out, "folder for the journal, the logs and the report")->capture_default_str();

  std::string folder;
  std::uint64_t points = 200, seeds = 20, runs = 10;
  app.require_subcommand(0, 1);
  app.fallthrough();
  const auto command = [&](const char* name, const char* help) {
    CLI::App* const made = app.add_subcommand(name, help);
    made->add_option("folder", folder, "the folder of a study")->required();
    return made;
  };
  CLI::App* const resume = command("resume", "continue a study; --jobs may differ");
  CLI::App* const report_only = command("report", "report a study again; --clock may differ");
  CLI::App* const merge_shards = command("merge", "join the shards of a study into the folder of --out");
  CLI::App* const measure_noise = command("noise", "repeat the point of the fastest trial on each workload of a study");
  measure_noise->add_option("--runs", runs, "of each trial")->capture_default_str()->check(flags::whole(2, 10000));
  CLI::App* const find = app.add_subcommand("targets", "search for targets of the workloads");
  find->add_option("--points", points, "per submission")->capture_default_str()->check(flags::whole(1, 1000000));
  find->add_option("--seeds", seeds, "of the best point")->capture_default_str()->check(flags::whole(1, 1000000));
  try {
    app.parse(argc, argv);
    const std::uint64_t jobs = options.jobs;
    if (space_file == "published")
      options.search_space = nullptr;
    else if (!space_file.empty() && space_file != "narrow")
      options.search_space = read_json(space_file);
    if (!clock.empty()) check_name("clock", clock, clocks);
    if (*merge_shards) return merge(folder, options, clock), 0;
    if (*resume || *report_only || *measure_noise) {
      for (const CLI::Option* const option : app.get_options())
        ap::require(option->count() == 0 || option->check_lname("clock") || (*resume && option->check_lname("jobs")),
                    option->get_name(), " cannot be changed after a study has begun: ", folder, "/study.json has it");
      options = read_options(folder);
    }
    if (!clock.empty()) options.clock = clock;
    options.jobs = jobs;
    if (*find) return targets(options, points, seeds), 0;
    if (*report_only) return report(options), 0;
    if (*measure_noise) return noise(options, runs), 0;
    if (!*resume) read_shard(shard, options);
    run(options, !*resume);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "time_to_target: {}\n", error.what());
    end_other_ranks();
    return 1;
  }
}
