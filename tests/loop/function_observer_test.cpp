#include "algoperf/loop/function_observer.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

TEST_CASE("functions observe steps and evaluations, and may stop a run") {
  const Tiny task;
  auto loop = tiny_loop(momentum(), 0.1);
  std::vector<std::uint64_t> steps, evaluated;
  const RunReport run = loop.run(
      task.train(), Evaluate(task, {.every = 4}),
      [&](const StepReport& step) {
        CHECK(step.loss.has_value());
        steps.push_back(step.now.t);
      },
      [&](const EvaluationReport& found) { evaluated.push_back(found.step); },
      [](const StepReport& step) { return step.now.t < 10 ? Control::go_on : Control::budget_spent; });
  CHECK(run.reason == Control::budget_spent);
  CHECK(steps == std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(evaluated == std::vector<std::uint64_t>{4, 8, 10});
}

TEST_CASE("a named function, a generic function and a function with its own state observe a run") {
  const Tiny task;
  auto loop = tiny_loop(momentum(), 0.1);
  int reports = 0;
  const auto both = [&](const auto&) { ++reports; };  // of steps and of evaluations
  auto until_six = [n = 0](const StepReport&) mutable { return ++n < 6 ? Control::go_on : Control::target_reached; };
  const RunReport run = loop.run(task.train(), Evaluate(task, {.every = 3}), both, until_six);
  CHECK(run.last.now.t == 6);
  CHECK(run.target_reached());
  CHECK(reports == 6 + 2);
}
