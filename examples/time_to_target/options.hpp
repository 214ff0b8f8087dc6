// The options of time_to_target, and the study that they describe.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algoperf/core/nearest.hpp>
#include <algoperf/state/atomic_file.hpp>
#include <algoperf/tuning/study.hpp>
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "../command_line/mpirun.hpp"
#include "entries.hpp"
#include "narrow_spaces.hpp"

struct Options {
  std::vector<std::string> submissions = {"adamw", "nesterov", "schedule_free_adamw"};
  std::vector<std::string> workloads = {"glyphs_linear", "glyphs_mlp"};
  std::string ruleset = "external", search = "halton", clock = "time";
  // A search space, or an object of search spaces by submission; a submission without one keeps its own.
  nlohmann::ordered_json search_space = nlohmann::ordered_json::parse(narrow_spaces);
  bool variants = false;
  std::uint64_t held_out = 0;  // a seed; 0: no held-out workloads
  std::uint64_t studies = 2, trials = 3, seed = 1, steps = 0, every = 0;
  double step_hint_factor = 1;
  unsigned threads = 1;

  std::uint64_t shard = 0, shards = 1;

  std::uint64_t jobs = 1;  // from here on, not in study.json
  std::string out = "out/study";

  std::string settings_path() const { return out + "/study.json"; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Options, submissions, workloads, ruleset, search, clock, search_space, variants,
                                   held_out, studies, trials, seed, steps, every, step_hint_factor, threads, shard,
                                   shards)

// Throws Error with the nearest known name if `name` is not in `known`.
inline void check_name(const char* what, const std::string& name, const std::vector<std::string>& known) {
  algoperf::require(std::find(known.begin(), known.end(), name) != known.end(), "unknown ", what, " '", name,
                    "'; did you mean '", algoperf::nearest(name, known),
                    "'? Known: ", fmt::format("{}", fmt::join(known, ", ")));
}

inline std::size_t index_of(const std::string& name, const std::vector<std::string>& known) {
  return static_cast<std::size_t>(std::find(known.begin(), known.end(), name) - known.begin());
}

inline const std::vector<std::string> rulesets{"external", "self"};
inline const std::vector<std::string> searches{"halton", "sobol", "random", "official"};
inline const std::vector<std::string> clocks{"time", "steps", "examples", "flops"};

inline algoperf::Clock clock_of(const Options& options) {
  return static_cast<algoperf::Clock>(index_of(options.clock, clocks));
}

inline std::vector<algoperf::StudyEntry> all_entries() {
  std::vector<algoperf::StudyEntry> all;
  for (const auto& some : {digit_entries(), image_entries(), text_entries(), translation_entries(), speech_entries(),
                           graph_entries(), click_entries()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

// The names of the submissions, or of the workloads, in their order.
template <class Name>
std::vector<std::string> names_of(const std::vector<algoperf::StudyEntry>& entries, const Name& name) {
  std::vector<std::string> names;
  for (const algoperf::StudyEntry& entry : entries)
    if (std::find(names.begin(), names.end(), name(entry)) == names.end()) names.push_back(name(entry));
  return names;
}
inline std::string submission_of(const algoperf::StudyEntry& entry) { return entry.submission; }
inline std::string workload_of(const algoperf::StudyEntry& entry) { return entry.workload.name; }

// Returns the entries that the options select: workload by workload, each with its variants after it. Throws Error if a
// name is unknown.
inline std::vector<algoperf::StudyEntry> selected_entries(const Options& options) {
  const std::vector<algoperf::StudyEntry> all = all_entries();
  const std::vector<std::string> submissions = names_of(all, submission_of), workloads = names_of(all, workload_of);
  for (const std::string& name : options.submissions)
    if (name != "all") check_name("submission", name, submissions);
  for (const std::string& name : options.workloads)
    if (name != "all") check_name("workload", name, workloads);

  const auto chosen = [](const std::string& name, const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end() ||
           std::find(names.begin(), names.end(), "all") != names.end();
  };
  std::vector<algoperf::StudyEntry> entries, variants;
  for (const algoperf::StudyEntry& entry : all) {
    if (!chosen(entry.submission, options.submissions)) continue;
    const bool base = entry.workload.is_base();
    const bool named = index_of(entry.workload.name, options.workloads) < options.workloads.size();
    if (named || (chosen(entry.workload.base, options.workloads) && (base || options.variants)))
      entries.push_back(entry);
    else if (chosen(entry.workload.base, options.workloads))
      variants.push_back(entry);
  }
  if (options.held_out > 0)
    for (const algoperf::StudyEntry& entry : algoperf::draw_held_out(variants, options.held_out))
      entries.push_back(entry);
  const auto& spaces = options.search_space;
  bool by_submission = spaces.is_object();
  if (by_submission)
    for (const auto& [name, space] : spaces.items()) by_submission &= index_of(name, submissions) < submissions.size();
  for (algoperf::StudyEntry& entry : entries)
    if (!by_submission && !spaces.is_null())
      entry.space = algoperf::parse_search_space(spaces.dump());
    else if (by_submission && spaces.contains(entry.submission))
      entry.space =
          algoperf::parse_search_space(spaces[entry.submission].dump(), "search space of " + entry.submission);
  return entries;
}

inline algoperf::Study make_study(const Options& options) {
  check_name("ruleset", options.ruleset, rulesets);
  check_name("search", options.search, searches);
  check_name("clock", options.clock, clocks);
  algoperf::Study study({.folder = options.out,
                         .studies = options.studies,
                         .trials = options.trials,
                         .ruleset = static_cast<algoperf::Ruleset>(index_of(options.ruleset, rulesets)),
                         .seed = options.seed,
                         .search = static_cast<algoperf::Search>(index_of(options.search, searches)),
                         .trial = {.steps = options.steps,
                                   .step_hint_factor = options.step_hint_factor,
                                   .evaluate_every = options.every,
                                   .threads = options.threads},
                         .jobs = options.jobs,
                         .shard = options.shard,
                         .shards = options.shards,
                         .runner = runner_of_mpirun()});
  for (const algoperf::StudyEntry& entry : selected_entries(options)) study.add(entry);
  return study;
}

// The order of hyperparameters counts, and nlohmann::json sorts them.
inline nlohmann::ordered_json to_ordered_json(const Options& options) {
  nlohmann::ordered_json json = nlohmann::json(options);
  json["search_space"] = options.search_space;
  return json;
}

// Writes FOLDER/study.json, from which resume and report take the options. Throws Error, naming the option, if another
// study was begun in the folder.
inline void keep_options(const Options& options) {
  const nlohmann::ordered_json json = to_ordered_json(options);
  std::filesystem::create_directories(options.out);
  if (std::ifstream file(options.settings_path()); file) {
    const auto found = nlohmann::ordered_json::parse(file, nullptr, false);
    return algoperf::require_settings(found, json, options.settings_path() + ": another study was begun here: its");
  }
  algoperf::write_file(options.settings_path(), json.dump(2) + "\n");
}

// Reads the options of the study in a folder. Throws Error, naming the file, if there is none or if it is damaged.
inline Options read_options(const std::string& folder) {
  const std::string path = folder + "/study.json";
  std::ifstream file(path);
  algoperf::require(static_cast<bool>(file), path, ": cannot be opened, so there is no study to continue");
  try {
    const auto json = nlohmann::ordered_json::parse(file);
    Options options = nlohmann::json(json).get<Options>();
    options.search_space = json.at("search_space");
    options.out = folder;
    return options;
  } catch (const nlohmann::json::exception& error) {
    algoperf::fail(path, ": is damaged: ", error.what());
  }
}
