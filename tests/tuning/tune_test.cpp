#include "algoperf/tuning/tune.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "../support/near.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

const ap::SearchSpace bowl_space(std::vector<ap::Hyperparameter>{
    {.name = "x", .min = -1, .max = 1}, {.name = "rate", .min = 1e-3, .max = 1, .scaling = ap::Scaling::log}});

double bowl(const ap::HyperPoint& point) {
  return std::pow(point["x"] - 0.3, 2) + std::pow(std::log10(point["rate"]) + 1, 2);
}

std::vector<std::string> sorted_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("a search returns all trials in order and the best of them") {
  for (const std::size_t jobs : {0u, 2u}) {
    const ap::Tuning found = ap::tune(bowl_space, {.trials = 64, .seed = 5, .jobs = jobs}, bowl);
    REQUIRE(found.trials.size() == 64);
    double least = INFINITY;
    for (std::size_t i = 0; i < 64; ++i) {
      CHECK(found.trials[i].trial == i);
      CHECK(found.trials[i].value == bowl(found.trials[i].point));
      CHECK(found.trials[i].seconds >= 0);
      least = std::fmin(least, found.trials[i].value);
    }
    CHECK(found.best().value == least);
    CHECK(least < 0.1);
  }
  const ap::TuneOptions highest{.trials = 8, .jobs = 0, .lower_is_better = false};
  const ap::Tuning found = ap::tune(bowl_space, highest, bowl);
  for (const ap::TunedTrial& trial : found.trials) CHECK(found.best().value >= trial.value);
}

TEST_CASE("trials that fail are results without a value") {
  const ap::Tuning found = ap::tune(bowl_space, {.trials = 20}, [](const ap::HyperPoint& point) -> double {
    if (point["x"] < -0.5) throw std::runtime_error("diverged");
    if (point["x"] < -0.25) return NAN;
    if (point["x"] < 0) return -INFINITY;
    if (point["x"] < 0.5) ::raise(SIGKILL);
    return 3;
  });
  for (const ap::TunedTrial& trial : found.trials) {
    const double x = trial.point["x"];
    CHECK(std::isnan(trial.value) == (x < 0.5));
    CHECK(trial.failure == (x < -0.5    ? "diverged"
                            : x < -0.25 ? "the value is NaN"
                            : x < 0     ? "the value is infinite"
                            : x < 0.5   ? "the process was ended by signal 9 (Killed)"
                                        : ""));
  }
  CHECK(found.best().value == 3);
  CHECK(sentence([] {
          ap::tune(bowl_space, {.trials = 3, .jobs = 0}, [](const ap::HyperPoint&) { return std::nan(""); }).best();
        }) == "tune: all 3 trials failed; the first: the value is NaN");
}

TEST_CASE("a search continues from its journal, also with more trials, and refuses another search") {
  const Folder folder;
  const std::string journal = folder / "search.jsonl";
  const auto runs = [&](const ap::TuneOptions& options) {
    int count = 0;
    const ap::Tuning found = ap::tune(bowl_space, options, [&](const ap::HyperPoint& point) {
      ++count;
      if (point["x"] < 0) throw std::runtime_error("negative");
      return bowl(point);
    });
    for (const ap::TunedTrial& trial : found.trials) {
      CHECK(trial.failure == (trial.point["x"] < 0 ? "negative" : ""));
      if (trial.failure.empty()) CHECK(trial.value == bowl(trial.point));
    }
    return count;
  };
  CHECK(runs({.trials = 10, .jobs = 0, .journal = journal}) == 10);
  const std::string bytes = bytes_of(journal);
  CHECK(runs({.trials = 10, .jobs = 0, .journal = journal}) == 0);
  CHECK(bytes_of(journal) == bytes);
  CHECK(runs({.trials = 14, .jobs = 0, .journal = journal, .sync = true}) == 4);
  CHECK(bytes_of(journal).starts_with(bytes));
  CHECK(runs({.trials = 3, .jobs = 0, .journal = journal}) == 0);
  CHECK(sentence([&] { runs({.trials = 10, .seed = 2, .jobs = 0, .journal = journal}); }) ==
        journal + ":1: settings.seed is 0, but this study has 2");
  CHECK(sentence([&] { runs({.trials = 10, .search = ap::Search::sobol, .jobs = 0, .journal = journal}); }) ==
        journal + ":1: settings.search is \"halton\", but this study has \"sobol\"");
  folder.write("search.jsonl", bytes.substr(0, bytes.find('\n') + 1) +
                                   "{\"trial\":0,\"value\":\"x\",\"seconds\":1,"
                                   "\"failure\":\"\"}\n");
  CHECK(sentence([&] { runs({.trials = 10, .jobs = 0, .journal = journal}); }) ==
        journal + ": trial 0: \"value\" is not a number");
}

TEST_CASE("a search that is killed again and again repeats no finished trial and ends with the same values") {
  const Folder folder;
  const std::string journal = folder / "search.jsonl", ran = folder / "ran";
  const ap::TuneOptions options{.trials = 40, .jobs = 2, .journal = journal};
  const auto search = [&] {
    return ap::tune(bowl_space, options, [&](const ap::HyperPoint& point) {
      ::usleep(3000);
      std::ofstream(ran, std::ios::app) << point["x"] << "\n";
      return bowl(point);
    });
  };
  int kills = 0;
  for (std::vector<std::string> before;; before = sorted_lines(journal)) {
    const pid_t process = ::fork();
    REQUIRE(process >= 0);
    if (process == 0) {
      search();
      ::_exit(0);
    }
    if (kills < 12) {
      ::usleep(static_cast<useconds_t>(4000 + 1700 * kills));
      ::kill(process, SIGKILL);
    }
    int status = 0;
    ::waitpid(process, &status, 0);
    const std::vector<std::string> after = sorted_lines(journal);
    CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));  // byte for byte
    if (WIFEXITED(status)) break;
    ++kills;
  }
  CHECK(kills > 0);
  const ap::Tuning found = search();  // runs nothing
  for (const ap::TunedTrial& trial : found.trials) CHECK(trial.value == bowl(trial.point));
  // Each kill repeats at most the two trials that were running.
  CHECK(sorted_lines(ran).size() <= static_cast<std::size_t>(40 + 2 * kills));
  CHECK(sorted_lines(journal).size() == 41);
}
