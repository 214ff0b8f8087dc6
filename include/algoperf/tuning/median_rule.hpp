// The median rule: ends a trial of a search that does worse than its predecessors did by then. POSIX only.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/median.hpp"
#include "../core/target.hpp"
#include "../loop/concept.hpp"

namespace algoperf {

// A trial is hopeless at a step if the best value that it has reported is worse than the median, over the trials that
// have ended by themselves, of the mean of the values that those reported up to this step. Source: Golovin et al. 2017,
// "Google Vizier: A Service for Black-Box Optimization", median automated stopping rule.
struct MedianRule {
  std::size_t least_trials = 5;    // that must have ended before the rule applies
  double first_step = 0;           // no trial ends before this step
  std::size_t most_reports = 512;  // of a trial

  void check() const {
    require(least_trials >= 1, "MedianRule: least_trials is 0, expected at least 1");
    require(most_reports >= 1, "MedianRule: most_reports is 0, expected at least 1");
  }
};

struct TrialReport {
  double step = 0, value = 0;
};

namespace detail {

// What trials have reported, in memory that processes forked later share. A trial writes its own reports only, and
// reads those of trials that have ended.
class SharedReports {
 public:
  SharedReports(std::size_t trials, std::size_t most_reports)
      : trials_(trials), most_(most_reports), bytes_(trials * (sizeof(Row) + most_reports * sizeof(TrialReport))) {
    if (bytes_ == 0) return;
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(memory_ != MAP_FAILED, "tune: no memory for the reports of ", trials, " trials");
    for (std::size_t i = 0; i < trials; ++i) ::new (rows() + i) Row{};
  }
  SharedReports(const SharedReports&) = delete;
  SharedReports& operator=(const SharedReports&) = delete;
  ~SharedReports() {
    if (bytes_ > 0) ::munmap(memory_, bytes_);
  }

  std::size_t trials() const { return trials_; }
  bool ended(std::size_t trial) const { return rows()[trial].ended.load(std::memory_order_acquire); }
  std::vector<TrialReport> of(std::size_t trial) const {
    return {reports(trial), reports(trial) + rows()[trial].count};
  }
  void add(std::size_t trial, const TrialReport& report) {
    Row& row = rows()[trial];
    require(row.count < most_, "TrialProgress: trial ", trial, " has more than ", most_,
            " reports, MedianRule::most_reports");
    require(row.count == 0 || report.step > reports(trial)[row.count - 1].step, "TrialProgress: trial ", trial,
            " reported step ", report.step, " after step ", row.count == 0 ? 0 : reports(trial)[row.count - 1].step);
    reports(trial)[row.count++] = report;
  }
  // Lets other trials be compared with this one.
  void end(std::size_t trial) { rows()[trial].ended.store(true, std::memory_order_release); }

 private:
  struct Row {
    std::size_t count = 0;
    std::atomic<bool> ended = false;
  };
  static_assert(std::atomic<bool>::is_always_lock_free && alignof(TrialReport) <= alignof(Row));

  Row* rows() const { return static_cast<Row*>(memory_); }
  TrialReport* reports(std::size_t trial) const {
    return reinterpret_cast<TrialReport*>(rows() + trials_) + trial * most_;
  }

  std::size_t trials_, most_, bytes_;
  void* memory_ = nullptr;
};

}  // namespace detail

// What a trial reports while it trains, and whether it is hopeless. tune() gives one to functions that take it.
class TrialProgress {
 public:
  TrialProgress(detail::SharedReports& reports, std::size_t trial, const MedianRule* rule, bool lower_is_better)
      : reports_(&reports), trial_(trial), rule_(rule), lower_(lower_is_better) {}

  // Reports the value at a step. Returns whether the trial is hopeless and should end; without a rule, false. NaN
  // counts as the worst value. Throws Error if the step does not grow, or after more than most_reports reports.
  bool report(double step, double value) {
    const double worst = lower_ ? INFINITY : -INFINITY;
    const auto value_of = [&](const TrialReport& r) { return std::isnan(r.value) ? worst : r.value; };
    reports_->add(trial_, {step, value});
    if (rule_ == nullptr || step < rule_->first_step) return hopeless_;
    double best = worst;
    for (const TrialReport& r : reports_->of(trial_))
      best = lower_ ? std::fmin(best, value_of(r)) : std::fmax(best, value_of(r));
    std::vector<double> means;
    std::size_t ended = 0;
    for (std::size_t other = 0; other < reports_->trials(); ++other) {
      if (other == trial_ || !reports_->ended(other)) continue;
      ++ended;
      double sum = 0, count = 0;
      for (const TrialReport& r : reports_->of(other))
        if (r.step <= step) sum += value_of(r), ++count;
      if (count > 0) means.push_back(sum / count);
    }
    if (ended >= rule_->least_trials && !means.empty()) hopeless_ = hopeless_ || better(median(means), best, lower_);
    return hopeless_;
  }
  bool hopeless() const { return hopeless_; }

 private:
  detail::SharedReports* reports_;
  std::size_t trial_;
  const MedianRule* rule_;
  bool lower_, hopeless_ = false;
};

// An observer that reports each evaluation of a training loop, and stops the loop if the trial is hopeless.
struct UntilHopeless {
  TrialProgress& progress;
  template <class Run>
  Control after_evaluation(Run&, const EvaluationReport& report) const {
    if (report.source != 0) return Control::go_on;
    return progress.report(static_cast<double>(report.step), report.metric) ? Control::budget_spent : Control::go_on;
  }
};

}  // namespace algoperf
