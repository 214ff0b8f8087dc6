// ALGOPERF_TIME_TO_TARGET(workload, rule, schedule, selector...): a Google Benchmark of training to a target.
//
//   #include <algoperf/benchmark/time_to_target.hpp>
//   ALGOPERF_TIME_TO_TARGET(ap::GlyphDigits{}, ap::adamw(), ap::Constant{1e-3}, ap::ShuffledEpochs{.batch = 128});
//   BENCHMARK_MAIN();
//
// A repetition is a trial: repetition r trains from seed r until the workload's target is reached on its validation
// data (with --benchmark_min_warmup_time, warm-ups use the first seeds). ->Repetitions(5) or
// --benchmark_repetitions=5 runs five trials. The time of a trial is its training time in seconds, as measured by the
// loop; evaluation does not count. A trial that does not reach the target within the budget, or diverges, has an
// infinite time, as in Dahl et al. 2023 (arXiv:2306.07179), section 4; JSON has no infinity, so its time is
// `missed_target_seconds`, 1e9. The median, which Google Benchmark prints, and the added statistics `min` and `max`
// include all trials. With an odd number of trials, the median is the time of a trial that reached the target, or 1e9
// if most trials missed it. If any trial misses, `mean`, `stddev` and `cv` are meaningless. The added statistic
// `reached` is the percentage of trials that reached the target. The label is "seed 1", followed by "target missed" or
// the cause of the divergence. Counters: steps, examples; evaluations and evaluation_seconds, if there were any;
// best_metric, if it is finite. A best metric of 0 is reported as 1e-300, because Google Benchmark 1.7 divides by the
// counters' means, and JSON has no NaN.
//
// ALGOPERF_TIME_TO_TARGET(workload, submission) does the same with a submission (tuning/submission.hpp) and its default
// point, with the budget and the evaluations of run_trial.
//
// An optional name comes first: ALGOPERF_TIME_TO_TARGET("adamw on glyphs", ...). Link Google Benchmark
// (algoperf::benchmark).
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../core/error.hpp"
#include "../loop/diverged.hpp"
#include "../loop/observers/evaluate.hpp"
#include "../loop/observers/history.hpp"
#include "../loop/observers/until.hpp"
#include "../loop/training_loop.hpp"
#include "../tuning/entry.hpp"
#include "../workloads/concept.hpp"
#include "concept.hpp"

namespace algoperf {

struct TimeToTargetOptions {
  std::uint64_t budget = 0;  // maximum number of steps of a trial; 0: three times the workload's step_hint()
  std::uint64_t every = 0;   // steps between evaluations; 0: a hundredth of the budget, at least 1
};

// The time of a trial that misses its target: 31 years, longer than any real trial.
inline constexpr double missed_target_seconds = 1e9;

namespace detail {

// Sets a counter, unless its magnitude exceeds `largest`: then the counter's statistics could overflow, and JSON has no
// infinity.
inline void set_counter(::benchmark::State& state, const char* name, double value) {
  constexpr double largest = 1e150;  // its square is finite
  constexpr double zero = 1e-300;    // Google Benchmark 1.7 computes cv = stddev / mean, NaN for zeros
  if (std::abs(value) <= largest) state.counters[name] = value == 0 ? zero : value;
}

inline double smallest_of(const std::vector<double>& x) {
  return x.empty() ? 0 : *std::min_element(x.begin(), x.end());
}
inline double share_that_reached(const std::vector<double>& seconds) {
  const auto reached =
      std::count_if(seconds.begin(), seconds.end(), [](double s) { return s < missed_target_seconds; });
  return seconds.empty() ? 0 : static_cast<double>(reached) / static_cast<double>(seconds.size());
}
inline double largest_of(const std::vector<double>& x) { return x.empty() ? 0 : *std::max_element(x.begin(), x.end()); }

}  // namespace detail

// Runs one trial from `seed`. `more` holds the other arguments of a TrainingLoop: a backend, a combiner or a worker
// group, but no Seed.
template <Workload W, class Rule, class Schedule, class Selector, class... More>
void benchmark_time_to_target(::benchmark::State& state, std::uint64_t seed, const TimeToTargetOptions& options,
                              const W& workload, const Rule& rule, const Schedule& schedule, Selector selector,
                              const More&... more) {
  if constexpr (requires { selector.seed; }) selector.seed = seed;
  const std::uint64_t budget =
      options.budget > 0 ? options.budget : 3 * static_cast<std::uint64_t>(workload.step_hint());
  const std::uint64_t every = options.every > 0 ? options.every : std::max<std::uint64_t>(1, budget / 100);
  for (auto _ : state) {
    RunReport run;
    std::vector<EvaluationReport> evaluations;
    std::string label = "seed " + std::to_string(seed);
    try {
      TrainingLoop loop(workload.model(), workload.loss(), rule, schedule, selector, Seed{seed}, more...);
      try {
        run = loop.run(workload.train(), Evaluate(workload, {.every = every}), History{evaluations},
                       UntilTarget{workload.target()}, UntilStep{budget});
        if (!run.target_reached()) label += ", target missed";
      } catch (const Diverged& diverged) {
        run = diverged.report;
        label += std::string(", ") + diverged.what();
      }
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
      return;
    }
    state.SetIterationTime(run.target_reached() ? run.last.training_seconds : missed_target_seconds);
    state.SetLabel(label);
    detail::set_counter(state, "steps", static_cast<double>(run.last.now.t));
    detail::set_counter(state, "examples", static_cast<double>(run.last.examples));
    if (!evaluations.empty()) {
      detail::set_counter(state, "evaluations", static_cast<double>(evaluations.size()));
      detail::set_counter(state, "evaluation_seconds", run.evaluation_seconds);
    }
    if (run.evaluated) detail::set_counter(state, "best_metric", run.best.metric);
  }
}

// Runs one trial of a submission from `seed`. An option that is 0 is that of run_trial.
template <Workload W, Submission S>
void benchmark_time_to_target(::benchmark::State& state, std::uint64_t seed, const TimeToTargetOptions& options,
                              const W& workload, const S& submission) {
  for (auto _ : state) {
    TrialResult trial;
    try {
      trial = run_trial(workload, submission, study_entry(workload, submission).default_point(),
                        {.seed = seed, .steps = options.budget, .evaluate_every = options.every});
    } catch (const std::exception& error) {
      state.SkipWithError(error.what());
      return;
    }
    state.SetIterationTime(trial.reached ? trial.evaluations.back().training_seconds : missed_target_seconds);
    const char* const missed = trial.reached ? "" : ", target missed";
    state.SetLabel("seed " + std::to_string(seed) + (trial.failure.empty() ? missed : ", " + trial.failure));
    detail::set_counter(state, "steps", static_cast<double>(trial.steps));
    detail::set_counter(state, "examples", static_cast<double>(trial.examples));
    detail::set_counter(state, "evaluations", static_cast<double>(trial.evaluations.size()));
    detail::set_counter(state, "evaluation_seconds", trial.evaluation_seconds);
  }
}

// Registers such trials as a benchmark and returns it for further configuration.
template <Workload W, class... Algorithm>
auto* register_time_to_target(const std::string& name, const TimeToTargetOptions& options, const W& workload,
                              const Algorithm&... algorithm) {
  const auto trial = [=, seed = std::uint64_t{0}](::benchmark::State& state) mutable {
    benchmark_time_to_target(state, ++seed, options, workload, algorithm...);
  };
  return ::benchmark::RegisterBenchmark(name.c_str(), trial)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(::benchmark::kSecond)
      ->ComputeStatistics("min", detail::smallest_of)
      ->ComputeStatistics("max", detail::largest_of)
      ->ComputeStatistics("reached", detail::share_that_reached, ::benchmark::kPercentage);
}

namespace detail {

template <class W, class... Rest>
auto* register_trials_of(const std::string& name, const TimeToTargetOptions& options, const W& workload,
                         const Rest&... rest) {
  if constexpr (explain_workload<W>()) return register_time_to_target(name, options, workload, rest...);
}
template <class First, class... Rest>
auto* register_trials_named(const std::string& name, const First& first, const Rest&... rest) {
  if constexpr (std::is_same_v<First, TimeToTargetOptions>)
    return register_trials_of(name, first, rest...);
  else
    return register_trials_of(name, {}, first, rest...);
}
template <class First, class... Rest>
auto* register_trials(const char* arguments, const First& first, const Rest&... rest) {
  if constexpr (std::is_convertible_v<const First&, const char*>)
    return register_trials_named(std::string("time_to_target/") + first, rest...);
  else
    return register_trials_named(readable_name("time_to_target", arguments), first, rest...);
}

}  // namespace detail
}  // namespace algoperf

// Arguments: (workload, rule, schedule, selector), followed by the other arguments of a TrainingLoop; or (workload,
// submission). Either is optionally preceded by a name and TimeToTargetOptions.
#define ALGOPERF_TIME_TO_TARGET(...) \
  ALGOPERF_BENCHMARK_VARIABLE = ::algoperf::detail::register_trials(#__VA_ARGS__, __VA_ARGS__)
