#include "algoperf/scaling/fit/profile.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/scaling/geometric.hpp"
#include "algoperf/scaling/laws/all.hpp"

namespace ap = algoperf;

namespace {

std::vector<ap::Observation<1>> curve(std::uint64_t seed, double floor, std::size_t count, double to, double noise) {
  std::vector<ap::Observation<1>> all;
  ap::RandomStream random(ap::RandomKey{seed});
  for (const double x : ap::geometric(10, to, count))
    all.push_back({{x}, (floor + std::pow(x, -0.5)) * std::exp(noise * random.normal())});
  return all;
}

}  // namespace

TEST_CASE("Student's quantiles match published tables") {
  CHECK(ap::student_t_quantile(0.95, 1) == near(12.7062047, 1e-8));
  CHECK(ap::student_t_quantile(0.95, 2) == near(4.30265273, 1e-8));
  CHECK(ap::student_t_quantile(0.95, 5) == near(2.57058184, 1e-8));
  CHECK(ap::student_t_quantile(0.99, 10) == near(3.16927267, 1e-8));
  CHECK(ap::student_t_quantile(0.95, 1000000) == near(1.95996635, 1e-7));
  CHECK_THROWS_AS(ap::student_t_quantile(1.0, 3), ap::Error);
}

TEST_CASE("the profile interval of a line is the textbook interval") {
  const auto observations = curve(5, 0, 12, 1e4, 0.2);
  const auto fit = ap::fit(ap::LogLine{}, observations);
  double mean = 0, spread = 0;
  for (const auto& o : observations) mean += std::log(o.x[0]) / 12;
  for (const auto& o : observations) spread += std::pow(std::log(o.x[0]) - mean, 2);
  const double t = ap::student_t_quantile(0.9, 10);
  const double slope = t * std::sqrt(fit.objective / 10 / spread);
  const double intercept = t * std::sqrt(fit.objective / 10 * (1.0 / 12 + mean * mean / spread));
  const ap::Interval of_slope = ap::profile_interval(fit, observations, 1, 0.9);
  CHECK(of_slope.low == near(fit.theta[1] - slope, 1e-9));
  CHECK(of_slope.high == near(fit.theta[1] + slope, 1e-9));
  const ap::Interval of_intercept = ap::profile_interval(fit, observations, 0, 0.9);
  CHECK(of_intercept.low == near(fit.theta[0] - intercept, 1e-9));
  CHECK(of_intercept.high == near(fit.theta[0] + intercept, 1e-9));
}

TEST_CASE("an interval contains the truth at its nominal rate") {
  constexpr int curves = 400;
  int floor = 0, exponent = 0;
  for (int i = 0; i < curves; ++i) {
    const auto observations = curve(100 + static_cast<std::uint64_t>(i), 0.05, 10, 1e4, 0.05);
    const auto fit = ap::fit(ap::PowerLawWithFloor{}, observations);
    const ap::Interval e = ap::profile_interval(fit, observations, 0, 0.9);
    const ap::Interval c = ap::profile_interval(fit, observations, 2, 0.9);
    floor += e.low <= 0.05 && 0.05 <= e.high;
    exponent += c.low <= 0.5 && 0.5 <= c.high;
  }
  MESSAGE("90 % intervals of ten points: ", floor / 4.0, " % contain the floor, ", exponent / 4.0, " % the exponent");
  for (const int held : {floor, exponent}) {  // within three standard deviations of 90 % of 400
    CHECK(held >= 342);
    CHECK(held <= 378);
  }
}

TEST_CASE("the interval of a floor without a lower bound starts at 0") {
  const auto observations = curve(3, 0, 12, 1e3, 0.05);
  const auto fit = ap::fit(ap::PowerLawWithFloor{}, observations);
  const ap::Interval e = ap::profile_interval(fit, observations, 0);
  CHECK(e.low == 0);
  CHECK(e.high > 0);
  CHECK(e.high < 0.04);  // the minimum y is about 0.03
}

TEST_CASE("profiles that cannot be computed are refused") {
  const auto observations = curve(4, 0.1, 20, 1e5, 0.02);
  const auto huber = ap::fit(ap::PowerLaw{}, observations, ap::HuberResiduals{1e-3});
  CHECK_THROWS_AS(ap::profile_interval(huber, observations, 0), ap::Error);
  const auto line = ap::fit(ap::PowerLaw{}, observations);
  CHECK_THROWS_WITH_AS(ap::profile_interval(line, observations, 2),
                       "profile_interval: parameter is 2, expected less than 2", ap::Error);
  const std::vector<ap::Observation<1>> two(observations.begin(), observations.begin() + 2);
  CHECK_THROWS_WITH_AS(
      ap::profile_interval(ap::fit(ap::PowerLaw{}, two), two, 0),
      "profile_interval: there are 2 observations for 2 parameters, expected more observations than parameters",
      ap::Error);
  const auto sigmoid = ap::fit(ap::SigmoidPowerLaw{}, observations);
  CHECK_THROWS_WITH_AS(
      ap::profile_interval(sigmoid, observations, 1),
      "profile_interval: e_0 of (y - e_inf) / (e_0 - y)^alpha = b x^c is computed from several coordinates; "
      "use bootstrap() for its interval",
      ap::Error);
}
