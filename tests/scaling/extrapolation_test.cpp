#include "algoperf/scaling/fit/extrapolation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/scaling/geometric.hpp"
#include "curves.hpp"

namespace ap = algoperf;

namespace {

std::vector<ap::Observation<1>> curve(double from, double to, std::size_t count, double noise) {
  std::vector<ap::Observation<1>> all;
  ap::RandomStream random(ap::RandomKey{9});
  for (const double x : ap::geometric(from, to, count))
    all.push_back({{x}, (0.02 + std::pow(x, -0.5)) * std::exp(noise * random.normal())});
  return all;
}

// Calibrates the interval on three of the four data sets of the 72 vision curves, and checks which fraction of the
// fourth's held-out observations it contains.
template <class Law>
void holds(double least, double most) {
  std::map<std::string, std::pair<std::map<double, double>, std::map<double, double>>> curves;
  for (auto& row : read_rows("benchmark.vision.csv")) {
    auto& [fitted, held_out] = curves[row["Task"] + " " + row["Model"]];
    (row["Training"] == "1" ? fitted : held_out)[std::stod(row["Seen Examples"])] = std::stod(row["Loss"]);
  }
  if (curves.empty()) return;
  std::map<std::string, std::vector<double>> widths;  // half-widths needed, by data set
  for (const auto& each : curves) {
    std::vector<ap::Observation<1>> observations;
    for (const auto& [x, y] : each.second.first) observations.push_back({{x}, y});
    const auto fit = ap::fit(Law{}, observations);
    const auto past = ap::backtest(Law{}, observations);
    for (const auto& [x, y] : each.second.second) {
      const double reach = std::log(x / observations.back().x[0]);
      widths[each.first.substr(0, each.first.find('_'))].push_back(std::abs(std::log(fit(x) / y)) /
                                                                   (past.noise + past.per_reach * reach));
    }
  }
  CHECK(widths.size() == 4);
  double held = 0, all = 0;
  std::vector<double> together;
  for (const auto& left_out : widths) {
    std::vector<double> others;
    for (const auto& other : widths)
      if (other.first != left_out.first) others.insert(others.end(), other.second.begin(), other.second.end());
    const double factor = ap::percentile_interval(others, 0.8).high;  // the 90 % quantile
    const auto inside =
        std::count_if(left_out.second.begin(), left_out.second.end(), [&](double width) { return width <= factor; });
    const double share = static_cast<double>(inside) / static_cast<double>(left_out.second.size());
    MESSAGE("a 90 % interval contains ", 100 * share, " % of ", left_out.first);
    CHECK(share > 0.55);
    held += static_cast<double>(inside);
    all += static_cast<double>(left_out.second.size());
    together.insert(together.end(), left_out.second.begin(), left_out.second.end());
  }
  MESSAGE("and ", 100 * held / all, " % in all, ", std::string(Law::formula));
  CHECK(held / all > least);
  CHECK(held / all < most);
  // The library's calibration is the same over all four.
  const std::array<double, 4> quantiles = {0.5, 0.8, 0.9, 0.95};
  std::sort(together.begin(), together.end());
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(std::abs(together[static_cast<std::size_t>(quantiles[i] * static_cast<double>(together.size() - 1))] -
                   ap::calibration<Law>[i]) < 0.01);
}

}  // namespace

TEST_CASE("an interval widens with the reach and contains the truth") {
  const auto observations = curve(10, 1e3, 20, 0.01);
  double before = 0;
  for (const double x : {500.0, 2e3, 1e4, 5e4}) {
    const ap::Extrapolation e = ap::extrapolate(ap::PowerLawWithFloor{}, observations, x);
    const double truth = 0.02 + std::pow(x, -0.5);
    CHECK(e.interval.low < truth);
    CHECK(truth < e.interval.high);
    CHECK(e.interval.low < e.value);
    CHECK(e.reach == near(std::max(0.0, std::log(x / 1e3))));
    const double width = std::log(e.interval.high / e.interval.low);
    CHECK(width > before);
    before = width;
    CHECK(std::log(e.interval.high / e.value) == near(width / 2));
    const ap::Extrapolation wider = ap::extrapolate(ap::PowerLawWithFloor{}, observations, x, {.level = 0.95});
    CHECK(wider.interval.high > e.interval.high);
  }
}

TEST_CASE("a backtest's noise is the standard deviation of the residuals") {
  for (const double noise : {0.001, 0.01, 0.1}) {
    const auto observations = curve(10, 1e3, 400, noise);
    const auto past = ap::backtest(ap::PowerLawWithFloor{}, observations);
    CHECK(past.noise / noise == near(1, 0.1));  // its standard deviation is noise / sqrt(800), or 3.5 %
    double squares = 0;
    for (const auto& o : observations) squares += std::pow(std::log(past.fit(o.x[0]) / o.y), 2);
    CHECK(past.noise == near(std::sqrt(squares / 397)));
  }
}

TEST_CASE("only the ratios of weights matter, not their scale") {
  auto observations = curve(10, 1e3, 20, 0.01);
  const auto plain = ap::extrapolate(ap::PowerLawWithFloor{}, observations, 1e4);
  const ap::Regions regions = ap::find_regions(observations);
  for (auto& o : observations) o.weight = 1e4;  // 1 / variance of log y
  const auto weighted = ap::extrapolate(ap::PowerLawWithFloor{}, observations, 1e4);
  CHECK(weighted.interval.low == near(plain.interval.low, 1e-6));
  CHECK(weighted.interval.high == near(plain.interval.high, 1e-6));
  const ap::Regions same = ap::find_regions(observations);
  CHECK(same.floor_begins.found == regions.floor_begins.found);
  CHECK(same.floor_begins.at == near(regions.floor_begins.at, 1e-6));
}

TEST_CASE("extrapolation is refused where the observations do not support a power law, unless `anywhere` is set") {
  const auto observations = curve(10, 1e3, 20, 0.01);
  CHECK_THROWS_WITH_AS(ap::extrapolate(ap::PowerLawWithFloor{}, observations, 2e5),
                       "extrapolate: 200000 is 200 times the largest x observed, but the power law was observed over a "
                       "factor of only 100; set `anywhere` to extrapolate regardless",
                       ap::Error);
  CHECK(ap::extrapolate(ap::PowerLawWithFloor{}, observations, 2e5, {.anywhere = true}).value > 0);
  auto rising = observations;
  for (auto& o : rising) o.y = std::pow(o.x[0], 0.1);
  CHECK_THROWS_WITH_AS(ap::extrapolate(ap::PowerLaw{}, rising, 2e3),
                       "extrapolate: y does not fall with x, so there is no power law to follow; set `anywhere` to "
                       "extrapolate regardless",
                       ap::Error);
  CHECK_THROWS_WITH_AS(
      ap::extrapolate(ap::PowerLawWithFloor{}, observations, 1),
      "extrapolate: 1 is less than the smallest x observed, 10; set `anywhere` to extrapolate regardless", ap::Error);
  const auto below = ap::extrapolate(ap::PowerLawWithFloor{}, observations, 1, {.anywhere = true});
  CHECK(below.reach == near(std::log(10.0)));
  const auto level = curve(10, 1e8, 30, 0.01);  // reaches its floor of 0.02 by 2500
  CHECK(ap::extrapolate(ap::PowerLawWithFloor{}, level, 1e9).value == near(0.02, 0.02));
  CHECK_THROWS_WITH_AS(ap::extrapolate(ap::PowerLaw{}, level, 1e9), doctest::Contains("lies in the floor region (x > "),
                       ap::Error);
  auto guessed = observations;
  for (auto& o : guessed) o.y = 0.9 / (1 + std::pow(o.x[0] / 60, 0.8));
  CHECK_THROWS_WITH_AS(ap::extrapolate(ap::PowerLaw{}, guessed, 20),
                       doctest::Contains("lies in the guessing region (x < "), ap::Error);
  CHECK(ap::extrapolate(ap::BoundedPowerLaw{}, guessed, 20).value == near(0.9 / (1 + std::pow(1.0 / 3, 0.8)), 0.01));
  CHECK_THROWS_AS(ap::extrapolate(ap::PowerLaw{}, observations, 2e3, {.level = 0.93}), ap::Error);
  CHECK_THROWS_AS(ap::extrapolate(ap::PowerLaw{}, observations, -1), ap::Error);
  CHECK_THROWS_AS(ap::backtest(ap::PowerLaw{}, {{{1}, 3}, {{2}, 2}, {{3}, 1}}), ap::Error);
}

TEST_CASE("a 90 % interval contains 90 % of held-out observations, or slightly less") {
  holds<ap::PowerLawWithFloor>(0.87, 0.93);
  holds<ap::PowerLaw>(0.87, 0.93);
  holds<ap::BoundedPowerLaw>(0.85, 0.93);
  holds<ap::ShiftedPowerLaw>(0.85, 0.93);
}
