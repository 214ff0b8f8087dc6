#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "../support/near.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

// Records the calls of its members, and stops the run at a step.
struct Spy {
  std::vector<std::string>& told;
  std::string name;
  std::uint64_t stop = 0;
  bool fail_at_end = false;

  template <class Run>
  void begin(Run& run) {
    told.push_back(name + " begin " + std::to_string(run.loop().steps()));
  }
  template <class Run>
  Control after_step(Run&, const StepReport& report) {
    told.push_back(name + " step " + std::to_string(report.now.t));
    return report.now.t == stop ? Control::interrupted : Control::go_on;
  }
  template <class Run>
  Control after_evaluation(Run&, const EvaluationReport& report) {
    told.push_back(name + " evaluation " + std::to_string(report.step));
    return Control::go_on;
  }
  template <class Run>
  void end(Run&, const RunReport& report) {
    told.push_back(name + " end " + std::to_string(report.last.now.t));
    require(!fail_at_end, name, " failed at the end");
  }
};

struct OnlyEnd {
  int& ends;
  template <class Run>
  void end(Run&, const RunReport&) const {
    ++ends;
  }
};

// An error rate that takes at least 2 ms per batch.
struct SlowMetric : ErrorRate {
  template <class... Args>
  void write(const Args&... args) const {
    usleep(2000);
    ErrorRate::write(args...);
  }
};
struct SlowTask : Tiny {
  static constexpr auto metric() { return SlowMetric{}; }
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  lines.pop_back();
  return lines;
}

}  // namespace

TEST_CASE("observers are called in the given order, after_evaluation before after_step") {
  const Tiny task;
  std::vector<std::string> told;
  auto loop = tiny_loop(sgd(), 0.1);
  const RunReport report =
      loop.run(task.train(), Spy{told, "a"}, Evaluate(task, {.every = 2}), Spy{told, "b", 2}, UntilStep{2});
  CHECK(told == std::vector<std::string>{"a begin 0", "b begin 0", "a step 1", "b step 1", "a evaluation 2",
                                         "b evaluation 2", "a step 2", "b step 2", "a end 2", "b end 2"});
  CHECK(report.reason == Control::interrupted);  // the first observer's reason, not UntilStep's
}

TEST_CASE("an observer may have any single member") {
  const Tiny task;
  int ends = 0;
  auto loop = tiny_loop(sgd(), 0.1);
  loop.run(task.train(), OnlyEnd{ends}, UntilStep{1});
  CHECK(ends == 1);
}

struct OnlyReady {
  template <class Run>
  Control ready(Run&) const {
    return Control::interrupted;
  }
};

TEST_CASE("an observer may have only the member ready") {
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.1);
  CHECK(loop.run(task.train(), OnlyReady{}).reason == Control::interrupted);
}

TEST_CASE("end is called when a step throws, and run throws the step's error") {
  const Tiny task;
  std::vector<std::string> told;
  auto loop = tiny_loop(sgd(), 1e30);
  CHECK_THROWS_AS(loop.run(task.train(), Spy{told, "a", 0, true}, Spy{told, "b"}, UntilStep{50}), Diverged);
  CHECK(contains(told[told.size() - 2], "a end "));
  CHECK(contains(told.back(), "b end "));
}

TEST_CASE("if one observer's end throws, end of the others is still called, and each only once") {
  const Tiny task;
  std::vector<std::string> told;
  auto loop = tiny_loop(sgd(), 0.1);
  CHECK(sentence([&] {
          loop.run(task.train(), Spy{told, "a", 0, true}, Spy{told, "b", 0, true}, UntilStep{1});
        }) == "a failed at the end");
  CHECK(told.back() == "b end 1");
  CHECK(std::count(told.begin(), told.end(), "a end 1") == 1);
  CHECK(std::count(told.begin(), told.end(), "b end 1") == 1);
}

TEST_CASE("end is called only for observers whose begin was called") {
  const Tiny task;
  std::vector<std::string> told;
  auto loop = tiny_loop(sgd(), 0.1);
  CHECK_THROWS_AS(loop.run(task.train(), Spy{told, "a"}, CsvLog("/nonexistent/log.csv"), Spy{told, "b"}), Error);
  CHECK(told == std::vector<std::string>{"a begin 0", "a end 0"});
}

TEST_CASE("evaluations do not count as training time") {
  const SlowTask task;
  auto loop = tiny_loop(adamw(), 1e-3);
  loop.step(task.train());
  const double before = loop.training_seconds();
  const EvaluationReport report = loop.evaluate(task.validation(), task.metric());
  CHECK(loop.training_seconds() == before);
  CHECK(report.training_seconds == before);
  CHECK(report.evaluation_seconds >= 0.004);  // two batches
  const RunReport run = loop.run(task.train(), Evaluate(task, {.every = 2}), UntilStep{7});
  CHECK(run.evaluation_seconds >= 4 * 0.004);
}

TEST_CASE("computing averaged weights counts as training time") {
  const Tiny task;
  auto loop = tiny_loop(chain(Descend{}, WeightAverage{}), 1e-3);
  loop.step(task.train());
  const double before = loop.training_seconds();
  loop.evaluate(task.validation(), task.metric());
  CHECK(loop.training_seconds() > before);
}

TEST_CASE("Evaluate: every n steps, optionally after the first and after the last step") {
  const Tiny task;
  const auto steps = [&](EvaluateOptions options) {
    std::vector<EvaluationReport> found;
    std::vector<std::uint64_t> at;
    auto loop = tiny_loop(sgd(), 0.1);
    loop.run(task.train(), Evaluate(task, options), History{found}, UntilStep{7});
    for (const EvaluationReport& report : found) at.push_back(report.step);
    return at;
  };
  CHECK(steps({.every = 3}) == std::vector<std::uint64_t>{3, 6, 7});
  CHECK(steps({.every = 3, .last = false}) == std::vector<std::uint64_t>{3, 6});
  CHECK(steps({.every = 3, .first = true}) == std::vector<std::uint64_t>{1, 3, 6, 7});
  CHECK(steps({.every = 7}) == std::vector<std::uint64_t>{7});
  CHECK(steps({.every = 100, .last = false}).empty());
}

TEST_CASE("Evaluate: the last evaluation may reach the target; an interrupted run has no last evaluation") {
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.1);
  const RunReport report = loop.run(task.train(), Evaluate(task, {.every = 5}), UntilTarget{{1, true}}, UntilStep{3});
  CHECK(report.target_reached());
  CHECK(report.best.step == 3);
  std::vector<std::string> told;
  CHECK(!loop.run(task.train(), Evaluate(task, {.every = 5}), Spy{told, "a", 4}).evaluated);
  CHECK(told == std::vector<std::string>{"a begin 3", "a step 4", "a end 4"});
}

namespace {

// The fraction of correct predictions. Higher is better.
struct Accuracy {
  static constexpr const char* name = "accuracy";
  static constexpr bool lower_is_better = false;
  template <class B, class S>
  void write(const B& backend, std::size_t batch, std::size_t classes, const S* logits, const std::int32_t* labels,
             S* scores) const {
    ErrorRate{}.write(backend, batch, classes, logits, labels, scores);
    for (std::size_t i = 0; i < batch; ++i) scores[i] = 1 - scores[i];
  }
};
struct ByAccuracy : Tiny {
  static constexpr auto metric() { return Accuracy{}; }
};

}  // namespace

TEST_CASE("two observers that evaluate: the first determines the run's report, and each has its own history") {
  const Tiny task;
  const TemporaryFile csv;
  std::vector<EvaluationReport> errors, accuracies;
  auto loop = tiny_loop(adamw(), 3e-3);
  // An accuracy of 0.1 would reach a target of "error at most 0.5".
  const RunReport report =
      loop.run(task.train(), Evaluate(task, {.every = 2}), Evaluate(ByAccuracy{}, {.every = 2}), History{errors},
               History{accuracies, 1}, CsvLog(csv.path(), 1), UntilTarget{{0.5, true}}, UntilStep{200});
  CHECK(report.target_reached());
  CHECK(report.best.metric <= 0.5);
  CHECK(report.last.now.t > 2);
  CHECK(std::string(report.best.metric_name) == "error");
  REQUIRE(errors.size() == accuracies.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    CHECK(errors[i].source == 0);
    CHECK(accuracies[i].source == 1);
    CHECK(std::string(accuracies[i].metric_name) == "accuracy");
    CHECK(accuracies[i].metric + errors[i].metric == near(1));
  }
  CHECK(lines_of(csv.read())[0] == "step,training_seconds,evaluation_seconds,loss,accuracy");
  CHECK(lines_of(csv.read()).size() == 1 + errors.size());
}

TEST_CASE("UntilTarget: a target whose direction differs from the metric's is rejected before the first step") {
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.1);
  CHECK(sentence([&] {
          loop.run(task.train(), Evaluate(task), UntilTarget{{0.9, false}});
        }) == "UntilTarget: for the target, higher is better; for the metric 'error', lower");
  CHECK(sentence([&] {
          loop.run(task.train(), UntilTarget{{0.1, true}}, Evaluate(ByAccuracy{}));
        }) == "UntilTarget: for the target, lower is better; for the metric 'accuracy', higher");
  CHECK(sentence([&] {
          loop.run(task.train(), Evaluate(task), UntilTarget{{std::nan(""), true}});
        }) == "UntilTarget: the target is nan, which no metric reaches");
  CHECK(loop.steps() == 0);
  CHECK(loop.run(task.train(), Evaluate(ByAccuracy{}, {.every = 1}), UntilTarget{{0, false}}).target_reached());
}

TEST_CASE("the report keeps the first of the best evaluations") {
  const Tiny task;
  std::vector<EvaluationReport> found;
  auto loop = tiny_loop(adamw(), 3e-3);
  const RunReport report = loop.run(task.train(), Evaluate(task, {.every = 1}), History{found}, UntilStep{40});
  const EvaluationReport* best = &found.front();
  for (const EvaluationReport& one : found)
    if (one.metric < best->metric) best = &one;
  CHECK(report.evaluated);
  CHECK(report.best.step == best->step);
  CHECK(report.best.metric == best->metric);
  CHECK(best->step < 40);
}

TEST_CASE("a run ends at a step, at a target or after a training time") {
  const Tiny task;
  auto loop = tiny_loop(adamw(), 5e-3);
  CHECK(loop.run(task.train(), UntilStep{0}).last.now.t == 0);
  CHECK(loop.run(task.train(), UntilStep{0}).reason == Control::budget_spent);
  CHECK(loop.run(task.train(), UntilStep{3}).reason == Control::budget_spent);
  CHECK(loop.steps() == 3);

  const RunReport target =
      loop.run(task.train(), Evaluate(task, {.every = 5}), UntilTarget{{0.5, true}}, UntilStep{500});
  CHECK(target.target_reached());
  CHECK(target.best.metric <= 0.5);
  CHECK(target.best.step == target.last.now.t);

  const double spent = loop.training_seconds();
  const RunReport time = loop.run(task.train(), UntilSeconds{spent + 0.01});
  CHECK(time.reason == Control::budget_spent);
  CHECK(time.last.training_seconds >= spent + 0.01);
}

// Evaluates to a list of metrics, one per step.
struct Scripted {
  std::vector<double> metrics;
  struct Facts {
    const char* name = "scripted";
    bool lower_is_better = true;
  };
  Facts metric() const { return {}; }
  bool evaluation_due(const StepReport&) const { return true; }
  template <class Run>
  EvaluationReport evaluate(Run& run) const {
    const std::uint64_t step = run.loop().steps();
    return {.step = step, .metric = metrics[step - 1], .metric_name = "scripted"};
  }
};

TEST_CASE("the best evaluation is the first evaluator's, and the first among equal ones") {
  const Tiny task;
  const TemporaryFile file;
  std::vector<EvaluationReport> first, second;
  auto loop = tiny_loop(sgd(), 0.1);
  const RunReport report = loop.run(task.train(), Scripted{{0.5, 0.4, 0.4, 0.45}}, Scripted{{0.6, 0.4, 0.1, 0.4}},
                                    History{first, 0}, History{second, 1}, BestCheckpoint(file.path()), UntilStep{4});
  CHECK(report.best.metric == 0.4);
  CHECK(report.best.step == 2);
  CHECK(report.best.source == 0);
  CHECK(first.size() == 4);
  CHECK(second.size() == 4);
  CHECK(second[2].metric == 0.1);
  auto best = tiny_loop(sgd(), 0.1);
  load_checkpoint(file.path(), best);
  CHECK(best.steps() == 2);
}

TEST_CASE("UntilSeconds: NaN is refused") {
  auto loop = tiny_loop(sgd(), 0.1);
  CHECK(sentence([&] { loop.run(Tiny{}.train(), UntilSeconds{std::nan("")}); }) ==
        "UntilSeconds: seconds is nan, which no clock reaches");
}

TEST_CASE("targets") {
  CHECK(Target{0.1, true}.reached_by(0.1));
  CHECK(!Target{0.1, true}.reached_by(0.2));
  CHECK(Target{0.9, false}.reached_by(0.95));
  CHECK(!Target{0.9, false}.reached_by(0.5));
  CHECK(!Target{0.1, true}.reached_by(__builtin_nan("")));
  CHECK(!Target{0.1, false}.reached_by(__builtin_nan("")));
  CHECK(better(1, __builtin_nan(""), true));
  CHECK(!better(__builtin_nan(""), 1, true));
}

TEST_CASE("CsvLog: writes one row per evaluation, only at the end of the run") {
  const Tiny task;
  const TemporaryFile file;
  file.write("old");
  std::vector<EvaluationReport> found;
  auto loop = tiny_loop(sgd(), 0.1);
  loop.run(task.train(), Evaluate(task, {.every = 2}), History{found}, CsvLog(file.path()),
           AfterStep{[&](std::uint64_t) { CHECK(file.read() == "old"); }}, UntilStep{6});
  const auto lines = lines_of(file.read());
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "step,training_seconds,evaluation_seconds,loss,error");
  for (std::size_t i = 0; i < 3; ++i) {
    unsigned long step = 0;
    double training = 0, evaluation = 0, loss = 0, metric = 0;
    REQUIRE(std::sscanf(lines[i + 1].c_str(), "%lu,%lf,%lf,%lf,%lf", &step, &training, &evaluation, &loss, &metric) ==
            5);
    CHECK(step == 2 * (i + 1));
    CHECK(std::abs(training - found[i].training_seconds) < 1e-6);  // written with six decimals
    CHECK(loss == near(found[i].loss, 1e-8));
    CHECK(metric == near(found[i].metric, 1e-8));
  }
}

TEST_CASE("CsvLog: a run that throws writes its rows; a run without evaluations keeps the old file") {
  const Tiny task;
  const TemporaryFile file;
  file.write("old");
  auto quiet = tiny_loop(sgd(), 0.1);
  quiet.run(task.train(), CsvLog(file.path()), UntilStep{2});
  CHECK(file.read() == "old");
  auto loop = tiny_loop(sgd(), 0.1);
  CHECK_THROWS_AS(loop.run(task.train(), Evaluate(task, {.every = 1}), CsvLog(file.path()),
                           AfterStep{[](std::uint64_t t) { require(t < 3, "stop"); }}),
                  Error);
  CHECK(lines_of(file.read()).size() == 4);
}

TEST_CASE("CsvLog: a folder that cannot be written throws before the first step") {
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.1);
  CHECK(sentence([&] { loop.run(task.train(), CsvLog("/nonexistent/log.csv"), UntilStep{3}); }) ==
        "/nonexistent/log.csv: cannot be written: No such file or directory");
  CHECK(loop.steps() == 0);
}

TEST_CASE("ProgressBar: plain lines if the output is not a terminal") {
  const Tiny task;
  const auto shown = [&](std::uint64_t steps, ProgressBarOptions options) {
    std::FILE* const out = std::tmpfile();
    options.out = out;
    std::vector<double> losses;
    auto loop = tiny_loop(sgd(), 0.1);
    const RunReport report =
        loop.run(task.train(), Evaluate(task, {.every = 2}), ProgressBar(options), UntilStep{steps});
    std::rewind(out);
    std::string text;
    for (int c; (c = std::fgetc(out)) != EOF;) text += static_cast<char>(c);
    std::fclose(out);
    CHECK(!contains(text, "\r"));
    CHECK(!contains(text, "\033"));
    char loss[32];
    std::snprintf(loss, sizeof loss, "  loss %.4f", *report.last.loss);
    const auto lines = lines_of(text);
    CHECK(contains(lines.back(), loss));  // the loss of this step, not of the previous one
    return lines;
  };
  const auto five = shown(5, {.label = "sgd", .total = 6, .target = 0.05});
  REQUIRE(five.size() == 3);  // the evaluations at steps 2 and 4, and the end at step 5
  CHECK(contains(five[0], "sgd  "));
  CHECK(contains(five[0], "  step 2/6  loss "));
  CHECK(contains(five[0], "  error 0."));
  CHECK(contains(five[0], "(target 0.05)"));
  CHECK(contains(five[0], " s left at most"));
  CHECK(contains(five[1], "  step 4/6"));
  CHECK(contains(five[2], "  step 5/6"));
  // The final line shows the last evaluation.
  CHECK(five[2].substr(five[2].find("  error")) != five[1].substr(five[1].find("  error")));
  const auto four = shown(4, {});
  REQUIRE(four.size() == 2);  // the line of the last evaluation also reports the end
  CHECK(contains(four[1], "training  step 4  loss "));
  CHECK(!contains(four[1], "left"));
}
