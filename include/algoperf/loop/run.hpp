// Run: one call of TrainingLoop::run, with its observers. Observers use its public interface (loop/concept.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "../core/error.hpp"
#include "../core/target.hpp"
#include "../core/warn.hpp"
#include "checkpoint.hpp"
#include "concept.hpp"
#include "diverged.hpp"
#include "explain_observer.hpp"
#include "loop_ranks.hpp"
#include "observer_list.hpp"
#include "settings.hpp"

namespace algoperf {

template <class Loop, class Data, class... Observers>
class Run {
 public:
  Run(Loop& loop, const Data& data, Observers&... observers)
      : loop_(loop), data_(data), observers_(loop.ranks().is_root(), observers...) {
    static_assert((detail::explain_observer<Observers, Run>() && ...));
    static_assert((detail::HasControl<Observers, Run> || ...),
                  "algoperf: run(data, observers...) needs an observer that can stop it, e.g. UntilStep{1000}");
    static_assert(
        !Loop::reacts_to_evaluations || evaluates(),
        "algoperf: the schedule reacts to evaluations (Plateau), so run(data, observers...) needs an observer "
        "that evaluates, e.g. Evaluate(task, {.every = 500})");
    forget_best();
  }

  Loop& loop() { return loop_; }
  // Whether this rank writes the run's files.
  bool is_root() const { return loop_.ranks().is_root(); }
  const Data& data() const { return data_; }
  const RunReport& report() const { return report_; }  // so far
  // evaluates() returns whether any observer evaluates; metric() returns the metric of the evaluating observer with
  // index `source`.
  static consteval bool evaluates() { return detail::ObserverList<Run, Observers...>::evaluates(); }
  MetricFacts metric(std::size_t source = 0) const { return observers_.metric(source); }

  // Writes a checkpoint of the loop, the report and the observers. All ranks must call it; rank 0 writes the file.
  void save(const std::string& path) {
    loop_.gather_state();
    write(path);
  }
  // The same, but if the file cannot be written, warns and counts a failed save in the report.
  void save_or_warn(const std::string& path) {
    loop_.settle();  // a divergence is no failure to save
    loop_.gather_state();
    try {
      write(path);
    } catch (const Error& error) {
      ++report_.failed_saves;
      warning("step " + std::to_string(loop_.steps()) + " was not saved, and the run goes on: " + error.what());
    }
  }
  // Continues from a checkpoint. Call it from an observer's begin. Observers without a section in the file remain
  // unchanged; sections of observers that this run lacks are ignored. Throws Error, and changes nothing, if the file
  // does not match the run; with any_settings, the seed, the schedule and the options of the rule and of the combiner
  // may differ.
  void load(const std::string& path, bool any_settings = false) {
    CheckpointReader file(path);
    const Settings settings = loop_.settings();
    if (!any_settings) {
      // Files of earlier versions have no such sections.
      (void)file.section("settings", [&](auto& section) { settings.visit(section, path); });
      (void)file.section("combiner", [&](auto& section) { settings.visit_combiner(section, path); });
      if (!settings.schedule_compared())
        warning(path +
                ": the schedule is of a type of your own, so its options were not compared with the saved run's");
    }
    detail::load_whole(file, [&](auto& archive) { visit(archive, path); });
    report_.resumed_from = path;
    report_.resumed_at = loop_.steps();
  }
  // Reports a sentence by warn() (core/warn.hpp) and adds it to the report.
  void warning(std::string sentence) {
    warn(sentence);
    report_.warnings.push_back(std::move(sentence));
  }

  RunReport operator()() {
    const Residency resident{loop_};
    try {
      loop_.start(data_);
      report_.warnings = loop_.warnings();
      loop_.make_resident(data_);
      observers_.for_each([&](auto& observer, auto i) {
        if constexpr (detail::HasBegin<std::remove_reference_t<decltype(observer)>, Run>) observer.begin(*this);
        begun_ = i + 1;
      });
      loop_.meet_at_start();
      report_.last = loop_.last();
      report_.evaluation_seconds = loop_.evaluation_seconds();
      observers_.for_each([&](auto& observer, auto) {
        if constexpr (detail::HasReady<std::remove_reference_t<decltype(observer)>, Run>) take(observer.ready(*this));
      });
      agree();
      if (report_.reason == Control::go_on) {
        while (report_.reason == Control::go_on) {
          advance();
          agree();
        }
        report_.last = loop_.settle();
        if (report_.reason != Control::interrupted) evaluate_last();
        agree();
      }
      end();
      if (!ranks().alone()) ranks().meet({.at = Meeting::end, .step = loop_.steps()});
    } catch (Diverged& diverged) {
      detail::share_divergence(ranks(), diverged);
      end_diverged(diverged);
      throw;
    } catch (const RankFailure& failure) {
      if (!failure.diverged) end_failed();
      Diverged diverged(failure);  // a rank that reads deferred losses announces it at any meeting
      end_diverged(diverged);
      throw diverged;
    } catch (...) {
      end_failed();
    }
    return report_;
  }

 private:
  // Releases the data that are resident in the backend's memory during the run.
  struct Residency {
    Loop& loop;
    ~Residency() { loop.release_data(); }
  };

  const Ranks& ranks() const { return loop_.ranks(); }
  ALGOPERF_COLD void write(const std::string& path) {
    if (!is_root()) return;
    CheckpointWriter file;
    visit(file, path);
    const Settings settings = loop_.settings();
    file.section("settings", [&](auto& section) { settings.visit(section, path); });
    file.section("combiner", [&](auto& section) { settings.visit_combiner(section, path); });
    file.write(path);
  }
  ALGOPERF_COLD void agree() {
    if (!ranks().alone()) report_.reason = detail::agree_to_stop(ranks(), loop_.steps(), report_.reason);
  }

  void advance() {
    loop_.advance(data_);
    if (observers_.reads_loss(loop_.last())) loop_.settle();
    report_.last = loop_.last();
    // Evaluations come first, so that an observer that stops at this step has received their reports.
    std::size_t source = 0;
    observers_.for_each([&](auto& observer, auto) {
      if constexpr (detail::HasEvaluate<std::remove_reference_t<decltype(observer)>, Run>) {
        if (observer.evaluation_due(report_.last)) {
          const EvaluationReport found = observer.evaluate(*this);
          if (source == 0) loop_.feedback(found);
          evaluated(found, source);
        }
        ++source;
      }
    });
    report_.last.loss = loop_.last().loss;  // available after an evaluation
    observers_.for_each([&](auto& observer, auto) {
      if constexpr (detail::HasAfterStep<std::remove_reference_t<decltype(observer)>, Run>)
        take(observer.after_step(*this, report_.last));
    });
  }

  // Runs the evaluations that are due when the run stops. A stop reason from these evaluations takes precedence, as in
  // advance(). They are not passed to the schedule, because the length of a run must not affect the steps of the next
  // one.
  void evaluate_last() {
    const Control reason = std::exchange(report_.reason, Control::go_on);
    std::size_t source = 0;
    observers_.for_each([&](auto& observer, auto) {
      using O = std::remove_reference_t<decltype(observer)>;
      if constexpr (detail::HasEvaluate<O, Run>) {
        if constexpr (detail::HasLastEvaluationDue<O>)
          if (observer.last_evaluation_due(report_.last)) evaluated(observer.evaluate(*this), source);
        ++source;
      }
    });
    take(reason);
  }

  void evaluated(EvaluationReport found, std::size_t source) {
    found.source = source;
    if (source == 0) {
      if (!report_.evaluated || better(found.metric, report_.best.metric, found.lower_is_better)) report_.best = found;
      report_.evaluated = true;
    }
    report_.evaluation_seconds = found.evaluation_seconds;
    observers_.for_each([&](auto& observer, auto) {
      if constexpr (detail::HasAfterEvaluation<std::remove_reference_t<decltype(observer)>, Run>)
        take(observer.after_evaluation(*this, std::as_const(found)));
    });
  }

  // Sections: the state, the report, and those of the observers.
  template <class Archive>
  void visit(Archive& archive, const std::string& path) {
    detail::visit_state(archive, path, loop_);
    archive.section("report", [&](auto& section) { visit_report(section); });
    observers_.visit(archive);
  }

  // Visits the best evaluation; on reading, it is discarded if its metric is not this run's. The rest of the report
  // comes from the loop.
  template <class Archive>
  void visit_report(Archive& archive) {
    EvaluationReport& best = report_.best;
    std::string metric = best.metric_name;
    visit_text(archive, "metric_size", "metric", metric);
    std::uint8_t evaluated = report_.evaluated;
    archive.number("evaluated", evaluated);
    archive.number("best_step", best.step);
    archive.number("best_loss", best.loss);
    archive.number("best_metric", best.metric);
    archive.number("best_training_seconds", best.training_seconds);
    archive.number("best_evaluation_seconds", best.evaluation_seconds);
    if constexpr (Archive::reading) {
      report_.evaluated = evaluated != 0;
      if (metric != this->metric().name) forget_best();
    }
  }
  void forget_best() {
    const MetricFacts facts = metric();
    report_.evaluated = false;
    report_.best = {.metric_name = facts.name, .lower_is_better = facts.lower_is_better};
  }

  // Records a reason to stop; the first one is reported.
  void take(Control control) {
    if (report_.reason == Control::go_on) report_.reason = control;
  }
  // Calls end() of every observer that has begun, even if others throw, and then rethrows the first exception.
  ALGOPERF_COLD void end() {
    const std::size_t begun = std::exchange(begun_, 0);
    std::exception_ptr first;
    observers_.for_each([&](auto& observer, auto i) {
      if constexpr (detail::HasEnd<std::remove_reference_t<decltype(observer)>, Run>) {
        if (i >= begun) return;
        try {
          observer.end(*this, std::as_const(report_));
        } catch (...) {
          if (first == nullptr) first = std::current_exception();
        }
      }
    });
    if (first != nullptr) std::rethrow_exception(first);
  }
  // Ends the run on all ranks with the exception that is being handled.
  [[noreturn]] ALGOPERF_COLD void end_failed() {
    report_.reason = Control::go_on;
    const std::exception_ptr shared = detail::share_failure(ranks(), loop_.steps());
    end_after_error();
    std::rethrow_exception(shared);
  }
  ALGOPERF_COLD void end_diverged(Diverged& diverged) {
    loop_.forget_divergence();
    report_.last.now.t = diverged.step - 1;  // with a device, the host may be at a later step
    report_.reason = Control::diverged;
    diverged.report = report_;
    end_after_error();
  }
  ALGOPERF_COLD void end_after_error() {
    try {
      end();
    } catch (...) {  // the original error is the one to report
    }
  }

  Loop& loop_;
  const Data& data_;
  detail::ObserverList<Run, Observers...> observers_;
  RunReport report_;
  std::size_t begun_ = 0;  // observers
};

}  // namespace algoperf
