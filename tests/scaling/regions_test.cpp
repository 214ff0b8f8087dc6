#include "algoperf/scaling/fit/regions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/scaling/geometric.hpp"

namespace ap = algoperf;

namespace {

constexpr double flipped = 0.05;
// Where the exponent is half that of the power law, -0.25: roots of its derivative.
constexpr double guessing_ends = 1.0, floor_begins = 62;

// The error of a Hebbian student of a perceptron with 200 inputs, after ratio * 200 examples, of whose labels a
// fraction `flipped` is wrong. The curve has all three regions in closed form (Opper & Kinzel 1996). If `drawn` is
// not null, the examples are sampled instead.
double hebbian_error(double ratio, ap::RandomStream* drawn) {
  constexpr double q = 1 - 2 * flipped, inputs = 200;
  double overlap = q * std::sqrt(2 * ratio) / std::sqrt(2 * q * q * ratio + std::numbers::pi);
  if (drawn != nullptr) {
    const double examples = std::round(ratio * inputs);
    double along = 0, across = 0;  // components of the student's weights along and across the teacher
    for (double i = 0; i < examples; ++i)
      along += std::abs(drawn->normal()) * (drawn->uniform_double() < flipped ? -1 : 1);
    for (double i = 1; i < inputs; ++i) across += std::pow(drawn->normal(), 2) * examples;
    overlap = along / std::sqrt(along * along + across);
  }
  return flipped + q * std::acos(overlap) / std::numbers::pi;
}

std::vector<ap::Observation<1>> curve(double from, double to, std::size_t count, ap::RandomStream* drawn = nullptr) {
  std::vector<ap::Observation<1>> all;
  for (const double ratio : ap::geometric(from, to, count)) all.push_back({{ratio}, hebbian_error(ratio, drawn)});
  return all;
}

}  // namespace

TEST_CASE("a Hebbian student: guessing, the power law, the floor") {
  ap::RandomStream random(ap::RandomKey{1});
  for (ap::RandomStream* const drawn : {static_cast<ap::RandomStream*>(nullptr), &random}) {
    const ap::Regions regions = ap::find_regions(curve(0.02, 3000, 20, drawn));
    CHECK(regions.guessing_ends.found);
    CHECK(regions.floor_begins.found);
    // The fitted law bends more sharply than the student's curve.
    CHECK(std::abs(std::log(regions.guessing_ends.at / guessing_ends)) < std::log(2.5));
    CHECK(std::abs(std::log(regions.floor_begins.at / floor_begins)) < std::log(2));
    CHECK(regions.guessing_ends.confidence > 0.95);
    CHECK(regions.floor_begins.confidence > 0.95);
    CHECK(regions.exponent == near(-0.5, 0.3));
    CHECK(regions.guessing_ends.interval.low <= regions.guessing_ends.at);
    CHECK(regions.guessing_ends.interval.high >= regions.guessing_ends.at);
    const ap::Interval between = regions.power_law(0.02, 3000);
    CHECK(between.low == regions.guessing_ends.at);
    CHECK(between.high == regions.floor_begins.at);
  }
}

TEST_CASE("T2, a sampled Hebbian student follows its closed form") {
  ap::RandomStream random(ap::RandomKey{5});
  constexpr int draws = 20;
  std::vector<ap::Observation<1>> late;  // of the error on correct labels
  for (const double ratio : ap::geometric(0.02, 3000, 12)) {
    double mean = 0;
    for (int i = 0; i < draws; ++i) mean += hebbian_error(ratio, &random) / draws;
    CAPTURE(ratio);
    const double clean = (mean - flipped) / (1 - 2 * flipped);
    CHECK(clean == near((hebbian_error(ratio, nullptr) - flipped) / (1 - 2 * flipped), 0.03));
    if (ratio > 10) late.push_back({{ratio}, clean});
  }
  CHECK(ap::fit(ap::PowerLaw{}, late).parameters()[1] == near(-0.5, 0.03));
}

TEST_CASE("a part of the curve has only the regions of that part") {
  ap::RandomStream random(ap::RandomKey{2});
  std::size_t late_guesses = 0, early_floors = 0;
  for (int i = 0; i < 10; ++i) {
    const ap::Regions late = ap::find_regions(curve(10, 3000, 14, &random), {.bootstraps = 1});
    const ap::Regions early = ap::find_regions(curve(0.02, 8, 14, &random), {.bootstraps = 1});
    CHECK(late.floor_begins.found);
    CHECK(early.guessing_ends.found);
    late_guesses += late.guessing_ends.found;
    early_floors += early.floor_begins.found;
  }
  CHECK(late_guesses <= 2);
  CHECK(early_floors <= 3);
}

TEST_CASE("a noisy power law is one region") {
  std::size_t found = 0;
  for (std::uint64_t key = 0; key < 50; ++key) {
    ap::RandomStream random(ap::RandomKey{key});
    std::vector<ap::Observation<1>> all;
    for (const double x : ap::geometric(10, 1e5, 20))
      all.push_back({{x}, std::pow(x, -0.3) * std::exp(0.05 * random.normal())});
    const ap::Regions regions = ap::find_regions(all, {.bootstraps = 1});
    CHECK(regions.exponent == near(-0.3, 0.25));
    found += regions.guessing_ends.found || regions.floor_begins.found;
  }
  CHECK(found <= 12);  // BIC at 20 points is wrong more often than 1 time in 20
}

TEST_CASE("too few observations or bootstraps for regions are refused") {
  std::vector<ap::Observation<1>> few = curve(0.02, 3000, 5);
  CHECK_THROWS_WITH_AS(ap::find_regions(few), "fit: there are 5 observations for 6 parameters", ap::Error);
  CHECK_THROWS_AS(ap::find_regions(curve(0.02, 3000, 8), {.bootstraps = 0}), ap::Error);
}

TEST_CASE("a curve that lies beyond its power law has an exponent near 0") {
  ap::RandomStream random(ap::RandomKey{3});
  std::vector<ap::Observation<1>> constant, floor;
  for (const double x : ap::geometric(10, 1e5, 16)) {
    constant.push_back({{x}, (x < 11 ? 0.08 : 0.05) * std::exp(0.005 * random.normal())});
    floor.push_back({{x}, 0.05 + 0.04 / std::sqrt(x / 10)});
  }
  CHECK(std::abs(ap::find_regions(constant).exponent) < 0.1);
  CHECK(std::abs(ap::find_regions(floor).exponent) < 0.1);
}

TEST_CASE("the exponent is that of the power law, wherever its floor begins") {
  for (const double floor : {0.005, 0.01, 0.02, 0.05, 0.1}) {
    std::vector<ap::Observation<1>> runs;
    for (const double x : ap::geometric(10, 1e5, 12)) runs.push_back({{x}, floor + 3 * std::pow(x, -0.35)});
    const ap::Regions regions = ap::find_regions(runs);
    CHECK(regions.exponent == near(-0.35, 1e-4));
    CHECK(regions.floor_begins.found == (std::pow(3 / floor, 1 / 0.35) < 1e5));
  }
}

TEST_CASE("the confidence in a boundary is the share of bootstraps that agree, whether it is found or not") {
  const std::vector<std::optional<double>> replicates{3.0, std::nullopt, std::nullopt, std::nullopt, 5.0};
  const ap::Boundary found = ap::detail::boundary(4.0, replicates), missing = ap::detail::boundary({}, replicates);
  CHECK(found.found);
  CHECK(found.at == 4);
  CHECK(found.confidence == near(0.4));
  CHECK(!missing.found);
  CHECK(missing.confidence == near(0.6));
  CHECK(missing.interval.low == near(3.1));
  CHECK(missing.interval.high == near(4.9));
  CHECK(ap::detail::boundary({}, {std::nullopt}).confidence == 1);
  CHECK(ap::detail::boundary({}, {std::nullopt}).interval.high == 0);
}
