// Fits of published data against values computed elsewhere (numpy, scipy).
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/core/random.hpp"
#include "algoperf/scaling/fit/bootstrap.hpp"
#include "algoperf/scaling/fit/fit.hpp"
#include "algoperf/scaling/fit/fit_objective.hpp"
#include "algoperf/scaling/fit/minimize.hpp"
#include "algoperf/scaling/geometric.hpp"
#include "algoperf/scaling/laws/all.hpp"
#include "algoperf/scaling/laws/weighted_points.hpp"
#include "curves.hpp"

namespace ap = algoperf;

TEST_CASE("Chinchilla's runs: every start reaches the optimum of the Huber loss") {
  const auto runs = chinchilla_runs();
  if (runs.empty()) return;
  CHECK(runs.size() == 234);
  const auto fit = ap::fit(ap::Chinchilla{}, runs, ap::HuberResiduals{1e-3});
  const std::array<double, 5> expected{442.164, 1271.8082, 1.783894, 0.342626, 0.342002};
  for (std::size_t i = 0; i < 5; ++i) CHECK(fit.parameters()[i] == near(expected[i], 1e-6));
  CHECK(std::abs(fit.objective - 8.40093119957e-4) < 1e-13);
  CHECK(fit.converged);
  CHECK(fit.reached == fit.starts);

  // The mean of these losses, 3.6e-6, and 1e-12 of their sum have the same optimum (Besiroglu et al. 2024 on
  // optimisers that stop early).
  for (const double scale : {1.0 / 234, 1e-12}) {
    auto scaled = runs;
    for (auto& run : scaled) run.weight = scale;
    const auto mean = ap::fit(ap::Chinchilla{}, scaled, ap::HuberResiduals{1e-3});
    for (std::size_t i = 0; i < 5; ++i) CHECK(mean.theta[i] == near(fit.theta[i], 1e-9));
  }
  const auto absolute = ap::fit(ap::Chinchilla{}, runs, ap::AbsoluteResiduals{});
  CHECK(absolute.converged);
  CHECK(absolute.objective < 0.94951369);
}

namespace {

// Minimises from random starts. Returns whether none of the optima is lower than the fit's.
bool not_lower(const ap::Fit<ap::BrokenPowerLaw<1>>& fit, const std::vector<ap::Observation<1>>& observations,
               std::size_t seed) {
  const auto points = ap::detail::fit_points(observations);
  const auto sum = ap::detail::fit_objective<ap::BrokenPowerLaw<1>>(points, {});
  const ap::Extent x = ap::extent(points, ap::detail::log_x), y = ap::extent(points, ap::detail::log_y);
  const double width = x.most - x.least;
  ap::RandomStream random(ap::RandomKey{seed});
  const auto between = [&](double low, double high) { return low + (high - low) * random.uniform_double(); };
  for (std::size_t i = 0; i < 10; ++i) {
    const double floor = y.least + std::log(i % 2 == 0 ? std::exp(between(-12, 0)) : 1 - std::exp(between(-7, 0)));
    std::array<double, 6> theta{floor,
                                0,
                                between(-0.5, 1.5),
                                between(-2, 2),
                                between(x.least - 0.1 * width, x.most + 0.1 * width),
                                between(std::log(0.01), std::log(3))};
    theta[1] = ap::weighted_mean(points, [&](const auto& p) {
      const double rest = std::fmax(std::exp(p.log_y) - std::exp(floor), 1e-6 * std::exp(p.log_y));
      return std::log(rest) - ap::BrokenPowerLaw<1>::log_terms(p.log_x, theta)[1];
    });
    if (ap::minimize(sum, theta, ap::detail::negligible(points), 300).value < fit.objective * (1 - 1e-6)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("random starts find no lower optimum of a broken power law on simulated curves") {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    CAPTURE(seed);
    ap::RandomStream random(ap::RandomKey{1000 + seed});
    const auto between = [&](double low, double high) { return low + (high - low) * random.uniform_double(); };
    const double a = std::exp(between(-6, 0)), b = std::exp(between(-1, 3)), c0 = between(0, 0.8);
    const double c1 = between(-0.6, 1.2), d = std::exp(between(2, 10)), f = std::exp(between(-3, 0.7));
    const double noise = std::exp(between(-7, -3));
    std::vector<ap::Observation<1>> observations;
    for (const double x : ap::geometric(1, 1e5, 20 + random.below(60))) {
      const double law = a + b * std::pow(x, -c0) * std::pow(1 + std::pow(x / d, 1 / f), -c1 * f);
      observations.push_back({{x}, law * std::exp(noise * random.normal())});
    }
    CHECK(not_lower(ap::fit(ap::BrokenPowerLaw<1>{}, observations), observations, seed));
  }
}

TEST_CASE("vision curves: errors of three laws on the part held out from their fits") {
  std::map<std::string, std::pair<std::map<double, double>, std::map<double, double>>> curves;
  for (auto& row : read_rows("benchmark.vision.csv")) {
    auto& [fitted, held_out] = curves[row["Task"] + " " + row["Model"]];
    (row["Training"] == "1" ? fitted : held_out)[std::stod(row["Seen Examples"])] = std::stod(row["Loss"]);
  }
  if (curves.empty()) return;
  std::ifstream file(data_path("scaling/expected.json"));
  const nlohmann::json expected = nlohmann::json::parse(file);
  std::size_t seen = 0, without_optimum = 0;
  double mean_error = 0;
  for (const auto& task : expected["m4_benchmark"]["tasks"]) {
    if (task["domain"] != "IC") continue;
    const std::string name = task["task"].get<std::string>() + " " + task["model"].get<std::string>();
    CAPTURE(name);
    const auto& curve = curves.at(name);
    const auto& held_out = curve.second;
    std::vector<ap::Observation<1>> observations;
    for (const auto& [x, y] : curve.first) observations.push_back({{x}, y});
    const auto error = [&](const auto& fit) {
      double sum = 0;
      for (const auto& [x, y] : held_out) sum += std::pow(std::log(fit(x) / y), 2);
      return std::sqrt(sum / static_cast<double>(held_out.size()));
    };
    const auto m1 = ap::fit(ap::PowerLaw{}, observations);
    const auto m2 = ap::fit(ap::PowerLawWithFloor{}, observations);
    const auto broken = ap::fit(ap::BrokenPowerLaw<1>{}, observations);
    CHECK(m1.converged);
    CHECK(m2.converged);
    without_optimum += !broken.converged;
    CHECK(std::abs(error(m1) - task["rmse"]["M1"].get<double>()) < 1e-5);
    CHECK(std::abs(error(m2) - task["rmse"]["M2log"].get<double>()) < 1e-4);
    // The optimum of this curve's fitted part predicts its held-out part worse than the local optimum of the reference.
    if (name == "bird_25 ViT/S/16")
      CHECK(error(broken) == near(0.03369, 1e-3));
    else
      CHECK(error(broken) < task["rmse"]["BNSL1"].get<double>() + 1e-3);
    if (name == "cal_5 BiT/50/1") CHECK(broken.objective < 0.00624561);  // local optimum: 0.0093295
    CHECK(not_lower(broken, observations, seen));
    mean_error += error(broken) / 72;
    ++seen;
  }
  CHECK(seen == 72);
  CHECK(mean_error < 0.041);
  CHECK(without_optimum <= 12);  // breaks that diverge beyond the observations
}

// Caballero et al. 2023, addition of four digits, fitted in log(1 + y): a broken law for y + 1 with the floor 1 + a.
TEST_CASE("a broken power law finds the break in addition") {
  const std::vector<double> x{160, 192, 256, 320, 384, 448, 480, 512, 544, 576, 608, 640, 672, 736, 800, 864, 928};
  const std::vector<double> y{2.13809046, 2.11813418, 2.08955508, 2.06988398, 2.05404987, 2.03837089,
                              2.02814281, 2.00496872, 1.95576149, 1.86313841, 1.70891537, 1.50637664,
                              1.29754721, 0.96559684, 0.75856477, 0.64768338, 0.55695445};
  std::vector<ap::Observation<1>> first;
  for (std::size_t i = 0; i < 14; ++i) first.push_back({{x[i]}, 1 + y[i]});
  const auto fit = ap::fit(ap::BrokenPowerLaw<1>{}, first);
  const std::array<double, 6> expected{1.41388453, 2.27727229, 0.05507735, 5.66290382, 612.583617, 0.05919304};
  CHECK(fit.converged);
  for (std::size_t i = 0; i < 6; ++i) CHECK(fit.parameters()[i] == near(expected[i], 1e-4));
  double sum = 0;
  for (std::size_t i = 14; i < x.size(); ++i) sum += std::pow(std::log((fit(x[i]) - 1) / y[i]), 2);
  CHECK(std::sqrt(sum / 3) == near(0.01092, 1e-3));
}
