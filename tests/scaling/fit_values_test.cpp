#include "algoperf/scaling/fit/fit_values.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/scaling/geometric.hpp"
#include "algoperf/scaling/laws/all.hpp"
#include "curves.hpp"

namespace ap = algoperf;

namespace {

template <class Law>
void recovers_from_values(const std::array<double, Law::parameters>& theta, double from, double to, std::size_t count) {
  std::vector<ap::Observation<1>> observations;
  for (const double x : ap::geometric(from, to, count))
    observations.push_back({{x}, std::exp(Law::template log_value<double>({std::log(x)}, theta))});
  const ap::Fit<Law> fit = ap::fit_values(Law{}, observations);
  CAPTURE(ap::describe(fit));
  CHECK(fit.converged);
  const auto expected = Law::from_theta(theta), found = fit.parameters();
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(std::abs(found[i] - expected[i]) <= 1e-6 * std::abs(expected[i]));
}

}  // namespace

TEST_CASE("fits of squares of y recover the parameters that generated the observations") {
  recovers_from_values<ap::PowerLaw>({2.0, -0.35}, 10, 1e5, 6);
  recovers_from_values<ap::PowerLawWithFloor>({std::log(0.3), 3.0, 0.4}, 10, 1e6, 12);
  recovers_from_values<ap::ShiftedPowerLaw>({1.0, std::log(1e-3), 0.5}, 10, 1e6, 12);
  recovers_from_values<ap::BoundedPowerLaw>({std::log(0.02), std::log(0.9), std::log(1e3), 0.6}, 10, 1e6, 30);
  recovers_from_values<ap::CriticalBatch>({std::log(1500.0), std::log(300.0)}, 1, 1 << 16, 17);
}

TEST_CASE("derivatives of the projected sum agree with finite differences") {
  std::vector<ap::Observation<2>> runs;
  ap::RandomStream random(ap::RandomKey{3});
  for (const double n : ap::geometric(1e7, 1e10, 5))
    for (const double d : ap::geometric(1e9, 1e12, 5))
      runs.push_back({{n, d}, 1.7 + 400 / std::pow(n, 0.34) + 0.05 * random.normal() + 410 / std::pow(d, 0.28)});
  const auto points = ap::detail::fit_points(runs);
  const ap::detail::ProjectedObjective<ap::Chinchilla> sum(points);
  std::array<double, 3> bound;
  for (const std::array<double, 2>& at : {std::array<double, 2>{0.3, 0.4}, {0.5, 0.2}, {-0.1, 0.3}}) {
    const auto f = sum.derivatives(at, bound);
    CHECK(f.value == near(sum(at), 1e-12));  // compiled separately, with or without fused multiply-adds
    for (std::size_t i = 0; i < 2; ++i) {
      constexpr double h = 1e-5;
      auto above = at, below = at;
      above[i] += h, below[i] -= h;
      CHECK(f.first[i] == near((sum(above) - sum(below)) / (2 * h), 1e-6));
      const auto up = sum.derivatives(above, bound), down = sum.derivatives(below, bound);
      for (std::size_t j = 0; j <= i; ++j)
        CHECK(f.second[i * (i + 1) / 2 + j] ==
              doctest::Approx((up.first[j] - down.first[j]) / (2 * h)).epsilon(1e-5).scale(0.1));
    }
  }
}

TEST_CASE("a coefficient may be 0, but not negative") {
  std::vector<ap::Observation<1>> falling;  // faster than any power law with a floor
  for (const double x : ap::geometric(1, 100, 12)) falling.push_back({{x}, 3 / x - 0.02});
  const auto fit = ap::fit_values(ap::PowerLawWithFloor{}, falling);
  CHECK(fit.parameters()[0] == 0);
  CHECK(fit.parameters()[1] > 0);
  CHECK(fit(10.0) > 0);
}

TEST_CASE("Chinchilla's runs: the optimum that scipy finds") {
  const auto runs = chinchilla_runs();
  if (runs.empty()) return;
  const auto fit = ap::fit_values(ap::Chinchilla{}, runs);  // nnls inside Nelder-Mead: benchmarks/peers/scipy_fits.py
  CHECK(fit.converged);
  CHECK(fit.parameters()[3] == near(0.34704742, 1e-7));
  CHECK(fit.parameters()[4] == near(0.35876412, 1e-7));
  CHECK(std::abs(fit.objective - 0.0463428940879) < 1e-12);
}

TEST_CASE("fit_values refuses observations that cannot be fitted") {
  CHECK_THROWS_AS(ap::fit_values(ap::PowerLawWithFloor{}, {{{1}, 2}, {{2}, 1}}), ap::Error);
  CHECK_THROWS_AS(ap::fit_values(ap::PowerLaw{}, {{{1}, 2}, {{2}, -1}, {{3}, 1}}), ap::Error);
}

TEST_CASE("fit_values reports parameters that the observations do not determine") {
  std::vector<ap::Observation<2>> one_model, one_ratio;
  ap::RandomStream random(ap::RandomKey{5});
  for (double d = 1e8; d < 1e13; d *= 3) {
    one_model.push_back({{1e8, d}, (2.46 + 410 / std::pow(d, 0.28)) * (1 + 0.01 * random.normal())});
    one_ratio.push_back({{d / 20, d}, 1.7 + 400 / std::pow(d / 20, 0.34) + 410 / std::pow(d, 0.28)});
  }
  CHECK(!ap::fit_values(ap::Chinchilla{}, one_model).determined());
  const auto fit = ap::fit_values(ap::Chinchilla{}, one_ratio);
  CHECK(!(fit.converged && fit.determined()));
  const auto chinchilla = chinchilla_runs();
  if (!chinchilla.empty()) CHECK(ap::fit_values(ap::Chinchilla{}, chinchilla).determined());

  std::vector<ap::Observation<1>> line;  // without a cap
  for (const double x : ap::geometric(10, 1e5, 12)) line.push_back({{x}, 3 / std::sqrt(x), x < 100 ? 2.0 : 1.0});
  const auto capped = ap::fit_values(ap::CappedPowerLaw{}, line);
  CHECK(!capped.determined());
  CHECK(capped.residuals == "form - observation, sum of squares, each by its observation's weight");
}
