// Run: one call of TrainingLoop::run, with its observers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "../core/target.hpp"
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
  const RunReport& report() const { return report_; }  // so far

  // Writes a checkpoint of the loop and its observers.
  void save(const std::string& path) { save_checkpoint(path, *this); }
  // Continues from a checkpoint, if there is one. Call it from an observer's begin.
  void load(const std::string& path) { load_checkpoint(path, *this); }

  template <class Archive>
  void visit(Archive& archive) {
    loop_.visit(archive);
    {
      const ArchiveScope scope(archive, "report");
      visit_report(archive);
    }
    for_each([&](auto& observer, auto i) { visit_scoped(archive, "observer_" + std::to_string(i), observer); });
  }

  RunReport operator()() {
    loop_.start(data_);
    try {
      for_each([&](auto& observer, auto i) {
        if constexpr (detail::HasBegin<std::remove_cvref_t<decltype(observer)>, Run>) observer.begin(*this);
        begun_ = i + 1;
      });
      for_each([&](auto& observer, auto) {
        if constexpr (detail::HasReady<std::remove_cvref_t<decltype(observer)>, Run>) take(observer.ready(*this));
      });
      while (report_.reason == Control::go_on) advance();
    } catch (...) {
      try {
        end();
      } catch (...) {  // the first error is the one to tell
      }
      throw;
    }
    end();
    return report_;
  }

 private:
  template <class F>
  void for_each(const F& f) {
    for_each_index<sizeof...(Observers)>([&](auto i) { f(*get<i>(observers_), i); });
  }

  void advance() {
    report_.last = loop_.step(data_);
    // Evaluations first: an observer that stops at this step sees what they found.
    for_each([&](auto& observer, auto) {
      if constexpr (detail::Evaluates<std::remove_cvref_t<decltype(observer)>, Run>)
        if (observer.evaluation_due(report_.last)) evaluated(observer.evaluate(*this));
    });
    for_each([&](auto& observer, auto) {
      if constexpr (detail::HasAfterStep<std::remove_cvref_t<decltype(observer)>, Run>)
        take(observer.after_step(*this, report_.last));
    });
  }

  void evaluated(const EvaluationReport& found) {
    if (!report_.evaluated || better(found.metric, report_.best.metric, found.lower_is_better)) report_.best = found;
    report_.evaluated = true;
    report_.evaluation_seconds = found.evaluation_seconds;
    for_each([&](auto& observer, auto) {
      if constexpr (detail::HasAfterEvaluation<std::remove_cvref_t<decltype(observer)>, Run>)
        take(observer.after_evaluation(*this, found));
    });
  }

  // All of the report but the reason to stop; a metric's name comes from the observer that evaluates.
  template <class Archive>
  void visit_report(Archive& archive) {
    StepReport& last = report_.last;
    EvaluationReport& best = report_.best;
    archive.number("step", last.now.t);
    archive.number("learning_rate", last.now.learning_rate);
    archive.number("loss", last.loss);
    archive.number("examples", last.examples);
    archive.number("training_seconds", last.training_seconds);
    std::uint8_t evaluated = report_.evaluated;
    archive.number("evaluated", evaluated);
    report_.evaluated = evaluated != 0;
    archive.number("evaluation_seconds", report_.evaluation_seconds);
    archive.number("best_step", best.step);
    archive.number("best_loss", best.loss);
    archive.number("best_metric", best.metric);
    archive.number("best_training_seconds", best.training_seconds);
    archive.number("best_evaluation_seconds", best.evaluation_seconds);
    if constexpr (Archive::reading)
      for_each([&](auto& observer, auto) {
        if constexpr (requires { observer.metric().lower_is_better; }) {
          best.metric_name = observer.metric().name;
          best.lower_is_better = observer.metric().lower_is_better;
        }
      });
  }

  // The first reason to stop is the one reported.
  void take(Control control) {
    if (report_.reason == Control::go_on) report_.reason = control;
  }
  // Ends every observer that has begun, whatever the others throw.
  void end() {
    std::exception_ptr first;
    for_each([&](auto& observer, auto i) {
      if constexpr (detail::HasEnd<std::remove_cvref_t<decltype(observer)>, Run>) {
        if (i >= begun_) return;
        try {
          observer.end(*this, std::as_const(report_));
        } catch (...) {
          if (first == nullptr) first = std::current_exception();
        }
      }
    });
    if (first != nullptr) std::rethrow_exception(first);
  }

  Loop& loop_;
  const Data& data_;
  Tuple<Observers*...> observers_;
  RunReport report_;
  std::size_t begun_ = 0;  // observers
};

}  // namespace algoperf
