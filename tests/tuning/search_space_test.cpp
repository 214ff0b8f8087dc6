#include "algoperf/tuning/search_space.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "../support/sentence.hpp"

namespace ap = algoperf;

namespace {

double number_at(const ap::Hyperparameter& hyperparameter, double u) { return std::get<double>(hyperparameter.at(u)); }
std::string space_error(const std::vector<ap::Hyperparameter>& hyperparameters) {
  return sentence([&] { ap::SearchSpace space(hyperparameters); });
}

}  // namespace

TEST_CASE("coordinates become values by their scaling") {
  const ap::Hyperparameter linear{.name = "x", .min = 2, .max = 10};
  CHECK(number_at(linear, 0) == 2);
  CHECK(number_at(linear, 0.25) == 4);
  const ap::Hyperparameter log{.name = "x", .min = 1e-4, .max = 1e-2, .scaling = ap::Scaling::log};
  CHECK(number_at(log, 0) == 1e-4);
  CHECK(number_at(log, 0.5) == near(1e-3, 1e-14));
  CHECK(number_at(log, 1 - 1e-16) <= 1e-2);
  const ap::Hyperparameter reverse{.name = "x", .min = 1, .max = 100, .scaling = ap::Scaling::reverse_log};
  CHECK(number_at(reverse, 0) == near(1, 1e-13));
  CHECK(number_at(reverse, 0.5) == near(91, 1e-14));
  CHECK(number_at(reverse, 1 - 1e-16) == near(100, 1e-14));
}

TEST_CASE("integers in a range are equally likely, or by their logarithm") {
  const auto counts = [](const ap::Hyperparameter& hyperparameter) {
    std::map<double, int> found;
    for (int i = 0; i < 12000; ++i) ++found[number_at(hyperparameter, (i + 0.5) / 12000)];
    return found;
  };
  CHECK(counts({.name = "n", .min = -1, .max = 2, .integer = true}) ==
        std::map<double, int>{{-1, 3000}, {0, 3000}, {1, 3000}, {2, 3000}});
  const auto log = counts({.name = "n", .min = 1, .max = 3, .scaling = ap::Scaling::log, .integer = true});
  REQUIRE(log.size() == 3);
  CHECK(log.at(1) == near(12000 * std::log(2) / std::log(4), 1e-3));
  CHECK(log.at(3) == near(12000 * std::log(4.0 / 3) / std::log(4), 1e-3));
  const auto reverse = counts({.name = "n", .min = 1, .max = 3, .scaling = ap::Scaling::reverse_log, .integer = true});
  CHECK(reverse.at(3) == near(log.at(1), 1e-3));
}

TEST_CASE("feasible points are equally likely and keep their types") {
  const ap::Hyperparameter list{.name = "x", .feasible = {1, true, "cosine"}};
  CHECK(number_at(list, 0.33) == 1);
  CHECK(std::get<bool>(list.at(0.34)));
  CHECK(std::get<std::string>(list.at(0.999)) == "cosine");
  CHECK(std::get<std::string>(list.at(1)) == "cosine");
}

TEST_CASE("points are read by name and type") {
  const ap::HyperPoint point{{"rate", 0.1}, {"nesterov", true}, {"schedule", "cosine"}, {"layers", 3}};
  CHECK(point["layers"] == 3);
  CHECK(point["rate"] == 0.1);
  CHECK(point.flag("nesterov"));
  CHECK(point.text("schedule") == "cosine");
  CHECK(point.number_or("rate", 3) == 0.1);
  CHECK(point.number_or("decay", 3) == 3);
  CHECK(point.has("rate"));
  CHECK_FALSE(point.has("decay"));
  CHECK(sentence([&] { (void)point["decay"]; }) == "HyperPoint: there is no hyperparameter 'decay'");
  CHECK(sentence([&] { (void)point["nesterov"]; }) == "HyperPoint: 'nesterov' is not a number");
  CHECK(sentence([&] { (void)point.flag("rate"); }) == "HyperPoint: 'rate' is not true or false");
  CHECK(sentence([&] { (void)point.text("rate"); }) == "HyperPoint: 'rate' is not a text");
  CHECK(sentence([] { ap::HyperPoint{{"a", 1.0}, {"a", 2.0}}; }) == "HyperPoint: 'a' is given twice");
}

TEST_CASE("a search has the requested number of points, which depend on the seed") {
  const ap::SearchSpace space(
      std::vector<ap::Hyperparameter>{{.name = "rate", .min = 1e-4, .max = 1e-2, .scaling = ap::Scaling::log},
                                      {.name = "beta", .feasible = {0.9, 0.99}}});
  for (const ap::Search search : {ap::Search::halton, ap::Search::sobol, ap::Search::random, ap::Search::official}) {
    const std::vector<ap::HyperPoint> points = ap::search_points(space, 16, 1, search);
    CHECK(points.size() == 16);
    CHECK(points == ap::search_points(space, 16, 1, search));
    CHECK((points == ap::search_points(space, 16, 2, search)) == (search == ap::Search::official));
    for (const ap::HyperPoint& point : points) {
      CHECK(point["rate"] >= 1e-4);
      CHECK(point["rate"] <= 1e-2);
      CHECK((point["beta"] == 0.9 || point["beta"] == 0.99));
    }
  }
  CHECK(ap::search_points(space, 16, 1) == ap::points_of(space, ap::ScrambledHalton(2, 1), 16));
  CHECK(sentence([&] { space.at({0.5}); }) == "search space: there are 1 coordinates, expected 2");
}

TEST_CASE("points of a list are drawn without replacement, every order equally often") {
  std::vector<ap::HyperPoint> list;
  for (const double x : {1.0, 2.0, 3.0}) list.push_back({{"x", x}});
  const ap::SearchSpace space(list);
  std::map<std::vector<double>, int> orders;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    std::vector<double> order;
    for (const ap::HyperPoint& point : ap::search_points(space, 3, seed)) order.push_back(point["x"]);
    ++orders[order];
  }
  CHECK(orders.size() == 6);
  for (const auto& [order, count] : orders) CHECK(std::abs(count - 1000) < 5 * 29);  // five standard deviations
  CHECK(ap::search_points(space, 2, 9).size() == 2);
  CHECK(sentence([&] { ap::search_points(space, 4); }) == "search space: 4 points were requested of a list of 3");
}

TEST_CASE("impossible search spaces are refused") {
  CHECK(space_error({}) == "search space: there is no hyperparameter");
  CHECK(sentence([] { ap::SearchSpace space(std::vector<ap::HyperPoint>{}); }) == "search space: there is no point");
  CHECK(space_error({{.name = "a", .max = 1}, {.name = "a", .max = 2}}) == "search space: 'a' is listed twice");
  CHECK(space_error({{.name = "a", .min = 2, .max = 1}}) ==
        "search space: 'a' has min 2 and max 1, expected min <= max");
  CHECK(space_error({{.name = "a", .min = 0, .max = 1, .scaling = ap::Scaling::log}}) ==
        "search space: 'a' has min 0, expected more than 0, as its scaling is logarithmic");
  CHECK(space_error({{.name = "a", .min = 0, .max = 1, .scaling = ap::Scaling::reverse_log}}) ==
        "search space: 'a' has min 0, expected more than 0, as its scaling is logarithmic");
  CHECK(space_error({{.name = "a", .min = 0, .max = INFINITY}}) ==
        "search space: 'a' has the range [0, inf], expected finite numbers");
  CHECK(space_error({{.name = "a", .feasible = {"none", 1.0, INFINITY}}}) ==
        "search space: 'a' has the value inf, expected finite numbers");
  CHECK(space_error({{.name = "a", .min = 0.5, .max = 1, .integer = true}}) ==
        "search space: 'a' is an integer in [0.5, 1], expected whole numbers");
}
