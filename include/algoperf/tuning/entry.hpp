// StudyEntry: a submission on a workload, with their types erased, so that a study, a search for a target or a program
// with options can hold many of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/random.hpp"
#include "../scoring/concept.hpp"
#include "../workloads/concept.hpp"
#include "trial.hpp"

namespace algoperf {

struct StudyEntry {
  std::string submission;
  ScoredWorkload workload;
  SearchSpace space;                           // of the submission
  std::optional<HyperPoint> own_default = {};  // the submission's default_point(), if it has that member
  std::uint64_t step_hint = 0;
  std::size_t batch_size = 128;  // to which the step hint refers
  std::function<WorkloadFacts()> facts;
  std::function<void()> load;  // the data
  std::function<TrialResult(const HyperPoint&, const TrialOptions&)> run;

  // Returns the point under the self-tuning ruleset: the submission's own, or the default of the search space.
  HyperPoint default_point() const { return own_default ? *own_default : space.default_point(); }
};

namespace detail {

// FNV-1a: the same on every machine.
inline std::uint64_t hash_text(const std::string& text) {
  std::uint64_t sum = 14695981039346656037u;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return sum;
}

// Reads no data, which a metric may need.
template <class W>
ScoredWorkload scored_workload(const W& workload) {
  using Metric = std::remove_cvref_t<decltype(workload.metric())>;
  ScoredWorkload scored{workload.name, workload.name, Metric::name, workload.target()};
  if constexpr (requires { workload.base; }) scored.base = workload.base;
  return scored;
}

template <class S>
std::optional<HyperPoint> own_default(const S& submission) {
  if constexpr (requires { submission.default_point(); })
    return submission.default_point();
  else
    return {};
}

// The workload's part of an entry, and a function that loads its data.
template <class Task>
struct WorkloadEntry {
  ScoredWorkload workload;
  std::uint64_t step_hint;
  std::size_t batch_size;
  std::function<WorkloadFacts()> facts;
  std::function<Task()> load;
};

template <class W>
auto workload_entry(const W& workload) {
  static_assert(explain_workload<W>());
  const auto load = [workload] { return trial_task(workload); };
  return WorkloadEntry<decltype(load())>{scored_workload(workload), workload.step_hint(), batch_size_of(workload),
                                         [workload] { return facts_of(workload); }, load};
}

template <class Task>
using RunErased = TrialResult(const std::function<Task()>& load, const void* submission, const HyperPoint&,
                              const TrialOptions&);

// Runs a trial of a submission of type S.
template <class Task, class S>
TrialResult run_erased(const std::function<Task()>& load, const void* submission, const HyperPoint& point,
                       const TrialOptions& options) {
  return run_loaded(load, *static_cast<const S*>(submission), point, options);
}

// The types of the functions in an entry do not depend on that of the submission: programs with many submissions on
// many workloads would otherwise spend a quarter of their compile time on them.
template <class Task>
StudyEntry erased_entry(const WorkloadEntry<Task>& workload, const char* submission_name, SearchSpace space,
                        std::optional<HyperPoint> own_default, std::shared_ptr<const void> submission,
                        RunErased<Task>* run) {
  return {.submission = submission_name,
          .workload = workload.workload,
          .space = std::move(space),
          .own_default = std::move(own_default),
          .step_hint = workload.step_hint,
          .batch_size = workload.batch_size,
          .facts = workload.facts,
          .load = [load = workload.load] { (void)load(); },
          .run = [load = workload.load, submission = std::move(submission), run](
                     const HyperPoint& point,
                     const TrialOptions& options) { return run(load, submission.get(), point, options); }};
}

template <class Task, class S>
StudyEntry with_submission(const WorkloadEntry<Task>& workload, const S& submission) {
  static_assert(explain_submission<S>());
  return erased_entry(workload, S::name, submission.search_space(), own_default(submission),
                      std::make_shared<const S>(submission), run_erased<Task, S>);
}

}  // namespace detail

template <class W, class S>
StudyEntry study_entry(const W& workload, const S& submission) {
  return detail::with_submission(detail::workload_entry(workload), submission);
}

// Returns the entries of submissions on a workload.
template <class W, class... S>
std::vector<StudyEntry> study_entries(const W& workload, const S&... submissions) {
  const auto entry = detail::workload_entry(workload);
  return {detail::with_submission(entry, submissions)...};
}

// Returns the entries of submissions on all variants of a workload.
template <class W, class... S>
std::vector<StudyEntry> variant_entries(const W& workload, const S&... submissions) {
  std::vector<StudyEntry> entries;
  if constexpr (requires { workload.each_variant([](const auto&) {}); })
    workload.each_variant([&](const auto& variant) {
      for (StudyEntry& entry : study_entries(variant, submissions...)) entries.push_back(std::move(entry));
    });
  return entries;
}

// Draws one variant of each base workload, and returns the entries of these, in their order. For a given list
// of variants, the drawn one depends only on the seed and on the base workload's name.
inline std::vector<StudyEntry> draw_held_out(const std::vector<StudyEntry>& variants, std::uint64_t seed) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_base;
  for (const StudyEntry& entry : variants) {
    std::size_t b = 0;
    while (b < by_base.size() && by_base[b].first != entry.workload.base) ++b;
    if (b == by_base.size()) by_base.push_back({entry.workload.base, {}});
    std::vector<std::string>& names = by_base[b].second;
    bool listed = false;
    for (const std::string& name : names) listed = listed || name == entry.workload.name;
    if (!listed) names.push_back(entry.workload.name);
  }
  std::vector<StudyEntry> drawn;
  for (const StudyEntry& entry : variants)
    for (const auto& [base, names] : by_base) {
      RandomStream random(RandomKey{seed}.fold(detail::hash_text(base)));
      if (base == entry.workload.base &&
          names[random.below(static_cast<std::uint32_t>(names.size()))] == entry.workload.name)
        drawn.push_back(entry);
    }
  return drawn;
}

}  // namespace algoperf
