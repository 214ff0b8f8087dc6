#include "algoperf/scaling/fit/bootstrap.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/scaling/fit/fit_values.hpp"
#include "algoperf/scaling/geometric.hpp"
#include "algoperf/scaling/laws/all.hpp"

namespace ap = algoperf;

namespace {

std::vector<ap::Observation<1>> line(double noise, std::uint64_t key, std::size_t count = 40) {
  std::vector<ap::Observation<1>> all;
  ap::RandomStream random(ap::RandomKey{key});
  for (const double x : ap::geometric(10, 1e5, count))
    all.push_back({{x}, 3 * std::pow(x, -0.4) * std::exp(noise * random.normal())});
  return all;
}

}  // namespace

TEST_CASE("a percentile interval matches numpy's quantiles") {
  const ap::Interval i = ap::percentile_interval({4, 1, 3, 2, 5}, 0.5);
  CHECK(i.low == 2);
  CHECK(i.high == 4);
  const ap::Interval wide = ap::percentile_interval({1, 2}, 0.9);
  CHECK(wide.low == near(1.05));
  CHECK(wide.high == near(1.95));
  CHECK_THROWS_AS(ap::percentile_interval({}, 0.9), ap::Error);
  CHECK_THROWS_AS(ap::percentile_interval({1}, 1), ap::Error);
}

// The standard deviation of a line's slope is known: sigma / sqrt(sum (x - mean)^2).
TEST_CASE("each way to resample estimates the standard deviation of a slope") {
  const auto observations = line(0.1, 5);
  const auto fit = ap::fit(ap::PowerLaw{}, observations);
  double mean = 0, squares = 0;
  for (const auto& o : observations) mean += std::log(o.x[0]) / 40;
  for (const auto& o : observations) squares += std::pow(std::log(o.x[0]) - mean, 2);
  const double deviation = std::sqrt(fit.objective / 38 / squares);
  for (const auto how : {ap::Resample::pairs, ap::Resample::residuals, ap::Resample::parametric}) {
    CAPTURE(static_cast<int>(how));
    const auto spread = ap::bootstrap(fit, observations, ap::SquaredResiduals{}, {.resample = how});
    CHECK(spread.thetas.size() == 4000);
    const ap::Interval slope = spread.interval(1);
    const double half = (slope.high - slope.low) / 2 / 1.96;
    CHECK(half / deviation == near(1, how == ap::Resample::pairs ? 0.15 : 0.05));
    CHECK(slope.low < fit.parameters()[1]);
    CHECK(slope.high > fit.parameters()[1]);
    // The interval of the law's value is narrowest in the middle.
    const ap::Interval middle = spread.at({1000}), end = spread.at({1e7});
    CHECK(std::log(end.high / end.low) > 2 * std::log(middle.high / middle.low));
  }
}

// With weights 1 / sigma^2, it is 1 / sqrt(sum w (x - mean)^2), where the mean is weighted, too.
TEST_CASE("resampling respects weights") {
  auto observations = line(0.05, 5, 200);
  ap::RandomStream random(ap::RandomKey{6});
  for (std::size_t i = 0; i < observations.size(); i += 2) {
    observations[i].weight = 1.0 / 36;
    observations[i].y *= std::exp(0.05 * std::sqrt(35.0) * random.normal());  // six times the noise in all
  }
  const auto fit = ap::fit(ap::PowerLaw{}, observations);
  double total = 0, mean = 0, squares = 0;
  for (const auto& o : observations) total += o.weight, mean += o.weight * std::log(o.x[0]);
  mean /= total;
  for (const auto& o : observations) squares += o.weight * std::pow(std::log(o.x[0]) - mean, 2);
  const double deviation = 0.05 / std::sqrt(squares);
  for (const auto how : {ap::Resample::pairs, ap::Resample::residuals, ap::Resample::parametric}) {
    CAPTURE(static_cast<int>(how));
    const ap::Interval slope = ap::bootstrap(fit, observations, ap::SquaredResiduals{}, {.resample = how}).interval(1);
    CHECK((slope.high - slope.low) / 2 / 1.96 / deviation == near(1, 0.15));
  }
}

TEST_CASE("a 90 % interval contains the truth nine times in ten if the law is true") {
  std::size_t held = 0;
  constexpr std::size_t experiments = 200;
  for (std::size_t i = 0; i < experiments; ++i) {
    const auto observations = line(0.1, 100 + i);
    const auto fit = ap::fit(ap::PowerLaw{}, observations);
    const auto spread = ap::bootstrap(fit, observations, ap::SquaredResiduals{},
                                      {.count = 300, .resample = ap::Resample::residuals, .seed = i});
    const ap::Interval slope = spread.interval(1, 0.9);
    held += slope.low <= -0.4 && -0.4 <= slope.high;
  }
  CHECK(held >= 170);  // expected 180, standard deviation 4.2
  CHECK(held <= 192);
}

TEST_CASE("a bootstrap is determined by its seed") {
  const auto observations = line(0.1, 5);
  const auto fit = ap::fit(ap::PowerLawWithFloor{}, observations, ap::HuberResiduals{});
  const auto a = ap::bootstrap(fit, observations, ap::HuberResiduals{}, {.count = 20, .seed = 3});
  const auto b = ap::bootstrap(fit, observations, ap::HuberResiduals{}, {.count = 20, .seed = 3});
  const auto longer = ap::bootstrap(fit, observations, ap::HuberResiduals{}, {.count = 30, .seed = 3});
  const auto other = ap::bootstrap(fit, observations, ap::HuberResiduals{}, {.count = 20, .seed = 4});
  CHECK(a.thetas == b.thetas);
  CHECK(a.thetas[0] == longer.thetas[0]);
  CHECK(a.thetas != other.thetas);
}

TEST_CASE("a bootstrap refuses as many observations as parameters") {
  const std::vector<ap::Observation<1>> two{{{1}, 2}, {{2}, 1}};
  const auto fit = ap::fit(ap::PowerLaw{}, two);
  CHECK_THROWS_WITH_AS(
      ap::bootstrap(fit, two),
      "bootstrap: there are 2 observations for 2 parameters, expected more observations than parameters", ap::Error);
  CHECK_THROWS_AS(ap::bootstrap(fit, line(0.1, 5), ap::SquaredResiduals{}, {.count = 0}), ap::Error);
}

TEST_CASE("a bootstrap refuses residuals and observations other than those of the fit") {
  std::vector<ap::Observation<1>> observations;
  for (double x = 1; x < 12; ++x) observations.push_back({{x}, 2 / x + 0.1 * std::sin(x) + 0.3});
  const auto fit = ap::fit(ap::PowerLawWithFloor{}, observations, ap::HuberResiduals{1e-3});
  CHECK_THROWS_WITH_AS(ap::bootstrap(fit, observations), doctest::Contains("bootstrap: the fit's objective is"),
                       ap::Error);
  CHECK(ap::bootstrap(fit, observations, ap::HuberResiduals{1e-3}, {.count = 20}).thetas.size() <= 20);
  CHECK_THROWS_AS(ap::bootstrap(ap::fit_values(ap::PowerLawWithFloor{}, observations), observations), ap::Error);
}

TEST_CASE("percentiles may be infinite, but values may not be NaN") {
  const ap::Interval open = ap::percentile_interval({-HUGE_VAL, 0, 1, HUGE_VAL}, 0.5);
  CHECK(open.low == -HUGE_VAL);
  CHECK(open.high == HUGE_VAL);
  CHECK_THROWS_AS(ap::percentile_interval({0, NAN}, 0.5), ap::Error);
}

TEST_CASE("an interval of a parameter that does not exist is refused") {
  const ap::Bootstrap<ap::PowerLaw> spread{.thetas = {{0, -0.5}, {1, -0.6}}};
  CHECK(spread.interval(1).low < spread.interval(1).high);
  CHECK_THROWS_WITH_AS(spread.interval(2), "Bootstrap: the parameter is 2, expected less than 2", ap::Error);
}
