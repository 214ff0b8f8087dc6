// Fits of published data against values computed elsewhere (numpy, scipy).
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../support/near.hpp"
#include "algoperf/scaling/fit/bootstrap.hpp"
#include "algoperf/scaling/fit/fit.hpp"
#include "algoperf/scaling/geometric.hpp"
#include "algoperf/scaling/laws/all.hpp"
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
    CHECK(error(broken) < task["rmse"]["BNSL1"].get<double>() + 1e-3);
    ++seen;
  }
  CHECK(seen == 72);
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
