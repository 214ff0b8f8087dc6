// ALGOPERF_TIME_TO_TARGET(workload, rule, schedule, selector...): a Google Benchmark of training to a target.
//
//   #include <algoperf/benchmark/time_to_target.hpp>
//   ALGOPERF_TIME_TO_TARGET(ap::GlyphDigits{}, ap::adamw(), ap::Constant{1e-3}, ap::ShuffledEpochs{.batch = 128});
//   BENCHMARK_MAIN();
//
// A repetition is a trial: repetition r trains from seed r (behind the seeds of warm-ups, if
// --benchmark_min_warmup_time asks for any), until the workload's target is reached on its validation
// data; ->Repetitions(5) or --benchmark_repetitions=5 makes five. Its time is the seconds spent on training alone, as
// the loop counts them. A trial that does not reach the target within the budget, or diverges, never does, as in Dahl
// et al. 2023 (arXiv:2306.07179), section 4; JSON has no infinity, so its time is `missed_target_seconds`, 1e9. The
// median, which Google Benchmark prints with the rest, is that of all trials, as are the added `min` and `max`: with an
// odd number of trials it is the time of one that reached the target, or 1e9 where most did not. With misses, `mean`,
// `stddev` and `cv` tell nothing. Counters: steps, examples, evaluations, evaluation_seconds, target_reached (its mean
// is the share), best_metric where it is finite; a zero is 1e-300, for Google Benchmark 1.7 divides by their means. The
// label is "seed 1", and after it "target missed" or why the trial diverged.
//
// A name of one's own comes first: ALGOPERF_TIME_TO_TARGET("adamw on glyphs", ...). Link Google Benchmark
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
#include "../workloads/concept.hpp"
#include "concept.hpp"

namespace algoperf {

struct TimeToTargetOptions {
  std::uint64_t budget = 0;  // steps a trial may take; 0: three times the workload's step_hint()
  std::uint64_t every = 0;   // steps from evaluation to evaluation; 0: a hundredth of the budget, at least 1
};

// The time of a trial that misses its target: 31 years, and so behind every other in an order of times.
inline constexpr double missed_target_seconds = 1e9;

namespace detail {

// A counter of which every statistic is a finite number, which JSON has.
inline void set_counter(::benchmark::State& state, const char* name, double value) {
  constexpr double largest = 1e150;  // its square is finite
  constexpr double zero = 1e-300;    // Google Benchmark 1.7 has cv = stddev / mean
  if (std::abs(value) <= largest) state.counters[name] = value == 0 ? zero : value;
}

inline double smallest_of(const std::vector<double>& x) {
  return x.empty() ? 0 : *std::min_element(x.begin(), x.end());
}
inline double largest_of(const std::vector<double>& x) { return x.empty() ? 0 : *std::max_element(x.begin(), x.end()); }

}  // namespace detail

// One trial from `seed`. `more` is what else a TrainingLoop takes: a backend, a combiner, workers; but no Seed.
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
    detail::set_counter(state, "evaluations", static_cast<double>(evaluations.size()));
    detail::set_counter(state, "evaluation_seconds", run.evaluation_seconds);
    detail::set_counter(state, "target_reached", run.target_reached() ? 1 : 0);
    if (run.evaluated) detail::set_counter(state, "best_metric", run.best.metric);
  }
}

// Registers such trials, to be configured further as Google Benchmark's own.
template <Workload W, class Rule, class Schedule, class Selector, class... More>
auto* register_time_to_target(const std::string& name, const TimeToTargetOptions& options, const W& workload,
                              const Rule& rule, const Schedule& schedule, const Selector& selector,
                              const More&... more) {
  const auto trial = [=, seed = std::uint64_t{0}](::benchmark::State& state) mutable {
    benchmark_time_to_target(state, ++seed, options, workload, rule, schedule, selector, more...);
  };
  return ::benchmark::RegisterBenchmark(name.c_str(), trial)
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(::benchmark::kSecond)
      ->ComputeStatistics("min", detail::smallest_of)
      ->ComputeStatistics("max", detail::largest_of);
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

// (workload, rule, schedule, selector), and after them what else a TrainingLoop takes; before them, if need be, a name
// and TimeToTargetOptions.
#define ALGOPERF_TIME_TO_TARGET(...) \
  ALGOPERF_BENCHMARK_VARIABLE = ::algoperf::detail::register_trials(#__VA_ARGS__, __VA_ARGS__)
