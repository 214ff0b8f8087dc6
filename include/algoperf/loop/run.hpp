// Run: one call of TrainingLoop::run, with its observers.
#pragma once

#include <cstddef>
#include <string>

#include "../core/tuple.hpp"
#include "checkpoint.hpp"
#include "concept.hpp"

namespace algoperf {

template <class Loop, class Data, class... Observers>
class Run {
 public:
  Run(Loop& loop, const Data& data, Observers&... observers) : loop_(loop), data_(data), observers_{{{&observers}...}} {
    static_assert((detail::explain_observer<Observers, Run>() && ...));
  }

  Loop& loop() { return loop_; }
  const Data& data() const { return data_; }

  // Writes a checkpoint of the loop and its observers.
  void save(const std::string& path) { save_checkpoint(path, *this); }
  // Continues from a checkpoint, if there is one. Call it from an observer's begin.
  void load(const std::string& path) { load_checkpoint(path, *this); }

  template <class Archive>
  void visit(Archive& archive) {
    loop_.visit(archive);
    for_each([&](auto& observer, auto i) { visit_scoped(archive, "observer_" + std::to_string(i), observer); });
  }

  RunReport operator()() {
    loop_.start(data_);
    for_each([&](auto& observer, auto) {
      if constexpr (detail::HasBegin<std::remove_cvref_t<decltype(observer)>, Run>) observer.begin(*this);
    });
    RunReport report;
    try {
      while (report.reason == Control::go_on) advance(report);
    } catch (...) {
      end(report);
      throw;
    }
    end(report);
    return report;
  }

 private:
  template <class F>
  void for_each(const F& f) {
    for_each_index<sizeof...(Observers)>([&](auto i) { f(*get<i>(observers_), i); });
  }

  void advance(RunReport& report) {
    report.last = loop_.step(data_);
    // Evaluations first: an observer that stops at this step sees what they found.
    for_each([&](auto& observer, auto) {
      if constexpr (detail::Evaluates<std::remove_cvref_t<decltype(observer)>, Run>)
        if (observer.evaluation_due(report.last)) evaluated(observer.evaluate(*this), report);
    });
    for_each([&](auto& observer, auto) {
      if constexpr (detail::HasAfterStep<std::remove_cvref_t<decltype(observer)>, Run>)
        take(report, observer.after_step(*this, report.last));
    });
  }

  void evaluated(const EvaluationReport& found, RunReport& report) {
    if (!report.evaluated || better(found.metric, report.best.metric, found.lower_is_better)) report.best = found;
    report.evaluated = true;
    report.evaluation_seconds = found.evaluation_seconds;
    for_each([&](auto& observer, auto) {
      if constexpr (detail::HasAfterEvaluation<std::remove_cvref_t<decltype(observer)>, Run>)
        take(report, observer.after_evaluation(*this, found));
    });
  }

  // The first reason to stop is the one reported.
  static void take(RunReport& report, Control control) {
    if (report.reason == Control::go_on) report.reason = control;
  }
  void end(const RunReport& report) {
    for_each([&](auto& observer, auto) {
      if constexpr (detail::HasEnd<std::remove_cvref_t<decltype(observer)>, Run>) observer.end(*this, report);
    });
  }

  Loop& loop_;
  const Data& data_;
  Tuple<Observers*...> observers_;
};

}  // namespace algoperf
