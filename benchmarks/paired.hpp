// paired: times A and B alternately and returns the ratio A / B with its quartiles, so that a busy or throttled
// machine slows both sides equally. paired_times also returns the times. Report: prints the rows of the table of
// scripts/bench.sh.
//
//   Report report;
//   report.at_most("lion, 2^14", Statistic::upper_quartile, 1.10, paired(library, by_hand));
//   return report.status();
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// The clock of a sample. `thread` is the processor time of this thread, which excludes other processes. `wall` is
// elapsed time, for work on several threads.
enum class Clock { thread, wall };

inline double now(Clock clock) {
  timespec t{};
  clock_gettime(clock == Clock::thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Quartiles {
  double lower = 0, median = 0, upper = 0;
};

// Quartiles by linear interpolation between the two nearest samples.
inline Quartiles quartiles(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (place - static_cast<double>(below)) * (samples[above] - samples[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

inline std::string text(Quartiles q) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.3f [%.3f, %.3f]", q.median, q.lower, q.upper);
  return buffer;
}

struct PairedOptions {
  std::size_t pairs = 31;
  double sample_seconds = 0.02;  // of each side in a pair, at least one call
  double turn_seconds = 0.001;   // minimum time for which a side repeats before the other side runs
  Clock clock = Clock::thread;
};

template <class F>
double seconds(F& f, std::size_t repetitions, Clock clock) {
  const double start = now(clock);
  for (std::size_t i = 0; i < repetitions; ++i) f();
  return now(clock) - start;
}

struct Times {
  Quartiles ratio;              // of a() to b(), per pair
  double a_seconds, b_seconds;  // medians, per call
};

// Times a() and b(), with equally many repetitions. They alternate in short turns, so that other load on the
// processor affects both. The order within a turn alternates, too.
template <class A, class B>
Times paired_times(A&& a, B&& b, PairedOptions options = {}) {
  std::size_t repetitions = 1;
  seconds(a, 1, options.clock);
  double turn;
  while ((turn = seconds(b, repetitions, options.clock)) < options.turn_seconds) repetitions *= 2;
  const auto turns = static_cast<std::size_t>(std::max(1.0, options.sample_seconds / turn));
  const double calls = static_cast<double>(turns * repetitions);
  std::vector<double> ratios, of_a, of_b;
  for (std::size_t pair = 0; pair < options.pairs; ++pair) {
    double a_total = 0, b_total = 0;
    for (std::size_t i = 0; i < turns; ++i) {
      const bool a_first = (pair + i) % 2 == 0;
      if (a_first) a_total += seconds(a, repetitions, options.clock);
      b_total += seconds(b, repetitions, options.clock);
      if (!a_first) a_total += seconds(a, repetitions, options.clock);
    }
    of_a.push_back(a_total / calls);
    of_b.push_back(b_total / calls);
    ratios.push_back(a_total / b_total);
  }
  return {quartiles(std::move(ratios)), quartiles(std::move(of_a)).median, quartiles(std::move(of_b)).median};
}

// Returns the ratio of the time of a() to that of b().
template <class A, class B>
Quartiles paired(A&& a, B&& b, PairedOptions options = {}) {
  return paired_times(a, b, options).ratio;
}

enum class Statistic { median, upper_quartile };

// Prints one row at a time: | what | bar | measured | verdict |
class Report {
 public:
  void at_most(const std::string& what, Statistic statistic, double limit, Quartiles ratio) {
    const bool median = statistic == Statistic::median;
    row(what, std::string(median ? "median" : "upper quartile") + " <= " + number(limit), text(ratio),
        (median ? ratio.median : ratio.upper) <= limit);
  }
  void at_least(const std::string& what, double limit, Quartiles ratio) {
    row(what, "median >= " + number(limit), text(ratio), ratio.median >= limit);
  }
  void equals(const std::string& what, double expected, double measured) {
    row(what, "= " + number(expected), number(measured), measured == expected);
  }
  void at_most(const std::string& what, double limit, double measured) {
    row(what, "<= " + number(limit), number(measured), measured <= limit);
  }
  // A row without a bar.
  void note(const std::string& what, const std::string& measured) { print(what, "", measured, ""); }
  void note(const std::string& what, Quartiles ratio) { note(what, text(ratio)); }

  // Returns the exit status of the program: 1 if any bar was missed, else 0.
  int status() const { return missed_ ? 1 : 0; }

 private:
  static std::string number(double x) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.4g", x);
    return buffer;
  }
  void row(const std::string& what, const std::string& bar, const std::string& measured, bool pass) {
    print(what, bar, measured, pass ? "pass" : "MISS");
    missed_ = missed_ || !pass;
  }
  static void print(const std::string& what, const std::string& bar, const std::string& measured, const char* verdict) {
    std::printf("| %-66s | %-22s | %-22s | %-4s |\n", what.c_str(), bar.c_str(), measured.c_str(), verdict);
    std::fflush(stdout);
  }

  bool missed_ = false;
};

}  // namespace bench
