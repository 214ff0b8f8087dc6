#include "algoperf/loop/observers/step_log.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/combine/all.hpp"
#include "algoperf/rules/stages/clip_by_global_norm.hpp"
#include "tiny.hpp"

using namespace algoperf;
using namespace algoperf::testing;

namespace {

using StepRows = std::vector<std::vector<std::string>>;

StepRows rows_in(const std::string& path) {
  StepRows rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

const char* const step_header = "step,learning_rate,loss,gradient_norm,examples,training_seconds";

}  // namespace

TEST_CASE("a step log has the rate, the loss and the gradient's norm of every step") {
  const Folder folder;
  const Tiny task;
  auto loop = tiny_loop(sgd(), 0.25);
  std::vector<StepReport> reports;
  std::vector<float> before = values_of(loop);
  std::vector<double> moved;
  loop.run(
      task.train(), StepLog(folder / "log.csv"),
      [&](const StepReport& report) {
        reports.push_back(report);
        double squares = 0;
        const std::vector<float> after = values_of(loop);
        for (std::size_t i = 0; i < after.size(); ++i) squares += std::pow(double(after[i]) - double(before[i]), 2);
        moved.push_back(std::sqrt(squares) / 0.25);  // p' = p - 0.25 g
        before = after;
      },
      UntilStep{5});
  const StepRows rows = rows_in(folder / "log.csv");
  REQUIRE(rows.size() == 6);
  std::ifstream file(folder / "log.csv");
  std::string first;
  std::getline(file, first);
  CHECK(first == step_header);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto& row = rows[i + 1];
    REQUIRE(row.size() == 6);
    CHECK(row[0] == std::to_string(i + 1));
    CHECK(row[1] == "0.25");
    CHECK(std::stod(row[2]) == near(*reports[i].loss, 1e-8));
    CHECK(std::stod(row[3]) == near(*reports[i].gradient_norm, 1e-8));
    CHECK(*reports[i].gradient_norm == near(moved[i], 1e-4));
    CHECK(row[4] == std::to_string(32 * (i + 1)));
  }
  CHECK(!loop.step(task.train()).gradient_norm);  // measured during the run only
}

TEST_CASE("the gradient's norm is measured before the rule clips, and is that of the mean gradient of all workers") {
  const Tiny task;
  const auto norm_of = [&](const auto& rule, const auto&... more) {
    auto loop = tiny_loop(rule, 0.1, more...);
    loop.measure_gradient_norm(true);
    return loop.step(task.train()).gradient_norm.value();
  };
  const double norm = norm_of(sgd());
  CHECK(norm > 0.5);
  CHECK(norm_of(chain(ClipByGlobalNorm{.max_norm = 1e-3}, Descend{})) == norm);
  CHECK(norm_of(sgd(), Mean{}, InProcess{2}) == near(norm, 1e-5));
  auto plain = tiny_loop(sgd(), 0.1), measured = tiny_loop(sgd(), 0.1);
  measured.measure_gradient_norm(true);
  for (int t = 0; t < 3; ++t) plain.step(task.train()), measured.step(task.train());
  CHECK(same_values(plain, measured));
}

TEST_CASE("a step log is on disk while the run goes on, and writes every nth step") {
  const Folder folder;
  const Tiny task;
  auto loop = tiny_loop(momentum(), 0.1);
  std::size_t seen = 0;
  loop.run(
      task.train(), StepLog(folder / "log.csv", {.every = 3, .gradient_norm = false}),
      [&](const StepReport&) { seen = rows_in(folder / "log.csv").size(); }, UntilStep{10});
  CHECK(seen >= 1);  // the header, and the rows of more than a second ago
  const StepRows rows = rows_in(folder / "log.csv");
  REQUIRE(rows.size() == 4);
  CHECK(rows[1][0] == "3");
  CHECK(rows[1][3].empty());
  CHECK(rows[3][0] == "9");
}

TEST_CASE("a resumed run keeps the rows up to its first step; a new run replaces the file") {
  const Folder folder;
  const Tiny task;
  const std::string log = folder / "log.csv", checkpoint = folder / "run.ckpt";
  const auto run = [&](std::uint64_t steps, bool resumes) {
    auto loop = tiny_loop(momentum(), 0.1);
    if (resumes)
      loop.run(task.train(), StepLog(log), Checkpoints(checkpoint, {.every = 4}), UntilStep{steps});
    else
      loop.run(task.train(), StepLog(log), UntilStep{steps});
  };
  const WarningsIgnored quiet;
  run(4, true);
  {
    std::ofstream more(log, std::ios::app);
    more << "5,0.1,9,9,160,1\n6,0.1,9";  // later than the checkpoint; the last row was cut off
  }
  run(8, true);
  StepRows rows = rows_in(log);
  REQUIRE(rows.size() == 9);
  for (std::size_t i = 1; i < rows.size(); ++i) CHECK(rows[i][0] == std::to_string(i));
  CHECK(rows[5][2] != "9");
  run(2, false);
  CHECK(rows_in(log).size() == 3);

  {
    std::ofstream other(log);
    other << "a,b\n1,2\n";
  }
  CHECK(sentence([&] { run(12, true); }) ==
        log + ": line 1 is not the header of a StepLog, expected " + step_header + "\n");
  CHECK(sentence([] { StepLog("x", {.every = 0}); }) == "StepLogOptions: every is 0, expected at least 1");
}
