// Any bytes either are read as the four files of compact logs, as measurements of a trial, as a table of times or as
// claims with their curves, or they are refused with an Error. Scores of what is read are in [0, 1] and within bounds.
#include <algoperf/scoring/all.hpp>
#include <algoperf/scoring/readers/all.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "memory_file.hpp"

namespace ap = algoperf;

namespace {

template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const ap::Error&) {
  }
}

void check(const ap::TimeTable& times) {
  const ap::PerformanceProfile profile(ap::counted_times(times));
  for (std::size_t s = 0; s < times.submissions.size(); ++s) {
    const double score = profile.score(s), trapezoid = profile.score(s, ap::Integral::trapezoid);
    const ap::Interval bounds = ap::score_bounds(times, s);
    constexpr double error = 1e-9;
    if (!(score >= 0 && score <= 1 + error && trapezoid >= 0 && trapezoid <= 1 + error)) std::abort();
    if (!(bounds.low <= score + error && score <= bounds.high + error)) std::abort();
  }
}

void score(const ap::Suite& suite, const std::vector<ap::TrialLog>& logs) {
  for (const ap::Clock clock : {ap::Clock::time, ap::Clock::steps})
    for (const ap::TrialChoice choice : {ap::TrialChoice::fastest, ap::TrialChoice::first_by_index}) {
      const ap::StudyTimes studies = ap::study_times(suite, logs, {clock, choice});
      attempt([&] { check(ap::median_times(studies)); });  // a time of 0 is refused
      attempt([&] { ap::bootstrap_scores(studies, {.samples = 3}); });
      ap::step_times(studies, logs);
      ap::evaluation_shares(studies, logs);
    }
  ap::missing_logs(suite, logs);
}

void read_compact(const std::vector<std::string_view>& parts) {
  const MemoryFile workload_file(parts[0].data(), parts[0].size()), dataset_file(parts[1].data(), parts[1].size()),
      trial_file(parts[2].data(), parts[2].size()), curve_file(parts[3].data(), parts[3].size());
  const std::vector<ap::ListedWorkload> workloads = ap::read_workloads(workload_file.path());
  std::vector<ap::detail::ListedDataset> datasets = ap::detail::read_datasets(dataset_file.path(), workloads);
  ap::detail::TrialPlaces places = ap::detail::read_trials(trial_file.path(), workloads, datasets);
  ap::detail::read_curves(curve_file.path(), places, datasets);
  for (const ap::detail::ListedDataset& listed : datasets) score(listed.dataset.suite, listed.dataset.logs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), n);
  std::vector<std::string_view> parts;  // separated by form feeds
  for (std::size_t begin = 0; begin <= n && parts.size() < 4;) {
    const std::size_t end = std::min(text.find('\f', begin), n);
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.resize(4);
  attempt([&] { read_compact(parts); });
  const MemoryFile first(parts[0].data(), parts[0].size()), second(parts[1].data(), parts[1].size());
  attempt([&] {
    ap::TrialLog log{"s", "a"};
    ap::read_measurements(first.path(), "loss", log);
    score({.name = "suite", .workloads = {{.name = "a", .base = "a", .metric = "loss", .target = {.value = 1}}}},
          {log});
  });
  attempt([&] {
    for (const ap::TimeTable& times : ap::read_time_tables(first.path())) check(times);
  });
  attempt([&] { ap::check_claims(ap::read_claims(first.path()), ap::read_loss_curves(second.path()), {.target = 3}); });
  return 0;
}
