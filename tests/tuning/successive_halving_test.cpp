#include "algoperf/tuning/successive_halving.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../support/folder.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

const ap::SearchSpace unit_range(std::vector<ap::Hyperparameter>{{.name = "x", .min = 0, .max = 1}});

}  // namespace

TEST_CASE("successive halving keeps the best third of each round and triples the budget") {
  const auto function = [](const ap::HyperPoint& point, double part) { return point["x"] + part; };
  for (const std::size_t jobs : {0u, 2u}) {
    const ap::Halving found = ap::successive_halving(unit_range, {.trials = 20, .seed = 3, .jobs = jobs}, function);
    REQUIRE(found.rounds.size() == 3);
    CHECK(found.rounds[0].trials.size() == 20);
    CHECK(found.rounds[1].trials.size() == 6);
    CHECK(found.rounds[2].trials.size() == 2);
    std::vector<double> all;
    for (const ap::TunedTrial& trial : found.rounds[0].trials) {
      all.push_back(trial.point["x"]);
      CHECK(trial.value == trial.point["x"] + std::pow(3.0, -2));
    }
    std::sort(all.begin(), all.end());
    for (const std::size_t round : {1u, 2u})
      for (std::size_t i = 0; i < found.rounds[round].trials.size(); ++i) {
        const ap::TunedTrial& trial = found.rounds[round].trials[i];
        const auto rank = std::find(all.begin(), all.end(), static_cast<double>(trial.point["x"])) - all.begin();
        CHECK(rank < (round == 1 ? 6 : 2));
        CHECK(trial.value == trial.point["x"] + (round == 1 ? std::pow(3.0, -1) : 1));
      }
    CHECK(found.best().point["x"] == all[0]);
  }
}

TEST_CASE("successive halving: higher may be better, and failed trials are the worst") {
  const auto function = [](const ap::HyperPoint& point, double) { return point["x"] > 0.8 ? NAN : double{point["x"]}; };
  const ap::Halving found = ap::successive_halving(
      unit_range, {.trials = 16, .keep_one = 2, .rounds = 2, .jobs = 0, .lower_is_better = false}, function);
  double most = 0;
  for (const ap::TunedTrial& trial : found.rounds[0].trials)
    if (trial.point["x"] <= 0.8) most = std::max(most, double{trial.point["x"]});
  CHECK(found.best().value == most);
  for (const ap::TunedTrial& trial : found.rounds[1].trials) CHECK_FALSE(std::isnan(trial.value));
}

TEST_CASE("successive halving continues from its journals") {
  const Folder folder;
  int calls = 0;
  const auto search = [&](std::size_t rounds = 2) {
    return ap::successive_halving(unit_range, {.trials = 9, .rounds = rounds, .jobs = 0, .journal = folder / "j"},
                                  [&](const ap::HyperPoint& point, double part) { return ++calls, point["x"] * part; });
  };
  const ap::Halving first = search();
  CHECK(calls == 9 + 3);
  CHECK(search().best().point == first.best().point);
  CHECK(calls == 9 + 3);
  CHECK(sentence([&] { search(3); }).find("settings.function is \"part 0.333333\"") != std::string::npos);
}

TEST_CASE("successive halving refuses too few trials") {
  const auto tried = [](const ap::HalvingOptions& options) {
    return sentence(
        [&] { ap::successive_halving(unit_range, options, [](const ap::HyperPoint&, double) { return 0.0; }); });
  };
  CHECK(tried({.trials = 8}) == "HalvingOptions: 8 trials are not enough for 3 rounds that keep one of 3");
  CHECK(tried({.keep_one = 1}) == "HalvingOptions: keep_one is 1, expected at least 2");
  CHECK(tried({.rounds = 0}) == "HalvingOptions: rounds is 0, expected at least 1");
}
