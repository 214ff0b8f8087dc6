// Approaches 1, 2 and 3 to the best model size: allocation.hpp, isoflop.hpp, training_envelope.hpp.
#include "algoperf/scaling/cost/allocation.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "../golden/akima.hpp"
#include "../support/near.hpp"
#include "algoperf/scaling/cost/isoflop.hpp"
#include "algoperf/scaling/fit/akima.hpp"
#include "algoperf/scaling/fit/fit.hpp"
#include "algoperf/scaling/fit/training_envelope.hpp"
#include "algoperf/scaling/geometric.hpp"
#include "algoperf/scaling/laws/chinchilla.hpp"
#include "algoperf/scaling/laws/log_line.hpp"
#include "curves.hpp"

namespace ap = algoperf;

TEST_CASE("exponents of optimal sizes against compute, weighted by their noise") {
  std::map<std::string, std::vector<ap::Observation<1>>> curves;
  for (auto& row : read_rows("porian_optimal.csv"))
    curves[row["config"]].push_back(
        {{std::stod(row["flops"])}, std::stod(row["n_opt"]), std::pow(std::stod(row["log_n_std"]), -2)});
  const std::map<std::string, double> exponents{{"rw-base-long-kaplan-kaplan", 0.8353000},
                                                {"rw-base-long-kaplan-standard", 0.7064699},
                                                {"rw-base-short-kaplan-standard", 0.6020375},
                                                {"rw-base-short-chinchilla-standard", 0.5714948},
                                                {"rw-tuned-short-const-standard", 0.4968951}};
  for (const auto& each : exponents) {
    CAPTURE(each.first);
    if (curves.empty()) return;
    CHECK(std::abs(ap::fit(ap::LogLine{}, curves.at(each.first)).parameters()[1] - each.second) < 1e-6);
  }
}

TEST_CASE("an allocation from undetermined parameters is refused") {
  std::vector<ap::Observation<2>> runs;
  for (double n = 1e7; n < 2e11; n *= 2.5)
    runs.push_back({{n, 20 * n}, 1.7 + 400 / std::pow(n, 0.34) + 410 / std::pow(20 * n, 0.28)});
  CHECK_THROWS_WITH_AS(ap::best_allocation(ap::fit(ap::Chinchilla{}, runs), 1e21),
                       doctest::Contains("best_allocation: the observations do not determine the fit's"), ap::Error);
}

// The isoFLOP curves of Porian et al. 2024.
TEST_CASE("optimal sizes from isoFLOP curves") {
  std::map<std::string, std::map<double, std::vector<ap::IsoflopRun>>> curves;
  for (auto& row : read_rows("porian_isoflop.csv"))
    curves[row["config"]][std::stod(row["flops"])].push_back({std::stod(row["n"]), std::stod(row["loss"])});
  std::map<std::string, std::map<double, double>> theirs;
  for (auto& row : read_rows("porian_optimal.csv"))
    theirs[row["config"]][std::stod(row["flops"])] = std::stod(row["n_opt"]);
  for (const auto& exponent : golden::akima::exponents) {
    CAPTURE(exponent.config);
    if (curves.empty()) return;
    std::vector<ap::Observation<1>> best;
    for (const auto& [flops, size] : theirs.at(exponent.config)) {
      best.push_back({{flops}, ap::isoflop_akima(curves.at(exponent.config).at(flops))});
      CHECK(std::abs(std::log(best.back().y / size)) < 0.05);  // theirs are medians over added noise
    }
    CHECK(std::abs(ap::fit(ap::LogLine{}, best).parameters()[1] - exponent.size) < 2e-6);
  }
}

TEST_CASE("Akima's curve") {
  const auto points = [](const double(&of)[6]) { return std::vector<double>(std::begin(of), std::end(of)); };
  const ap::AkimaCurve curve(points(golden::akima::x), points(golden::akima::y));
  for (const auto& at : golden::akima::values) CHECK(curve(at.x) == near(at.y, 1e-14));
  CHECK(curve.minimum() == near(golden::akima::minimum, 1e-6));
  CHECK_THROWS_AS(ap::AkimaCurve({0, 1, 1}, {1, 2, 3}), ap::Error);
  CHECK_THROWS_AS(ap::AkimaCurve({0, 1}, {1, 2}), ap::Error);
  CHECK_THROWS_WITH_AS(ap::AkimaCurve({0, 1, 2}, {1, NAN, 2}), doctest::Contains("point 1 is 1, nan"), ap::Error);
  const ap::AkimaCurve line({1, 2, 4, 5}, {2, 4, 8, 10});
  for (const double x : {1.0, 1.5, 3.9, 5.0}) CHECK(line(x) == near(2 * x));
  CHECK(line.minimum() == 1);
  const ap::AkimaCurve parabola({-3, -2, -1, 0, 1, 2, 3}, {9, 4, 1, 0, 1, 4, 9});
  CHECK(parabola(1.5) == near(2.25));
  CHECK(parabola.minimum() == doctest::Approx(0));
}

TEST_CASE("the envelope of training curves has the known exponent") {
  const ap::Fit<ap::Chinchilla> surface{{.theta = {std::log(406.4), std::log(410.7), std::log(1.69), 0.34, 0.28}}};
  std::vector<ap::TrainingCurve> curves;
  for (const double n : ap::geometric(1e7, 1e11, 60)) {
    ap::TrainingCurve curve{.parameters = n, .points = {}};
    for (const double d : ap::geometric(1e8, 1e13, 80)) curve.points.push_back({6 * n * d, surface({n, d})});
    curves.push_back(curve);
  }
  CHECK(curves[0].loss_at(1) != curves[0].loss_at(1));  // before its first point
  CHECK(curves[0].loss_at(curves[0].points[3].flops) == curves[0].points[3].loss);
  const auto best = ap::training_envelope(curves, ap::geometric(1e18, 1e22, 40));
  CHECK(best.size() == 40);
  for (const auto& each : best)
    CHECK(std::abs(std::log(each.y / ap::best_allocation(surface, each.x[0]).parameters)) < 0.2);
  CHECK(ap::fit(ap::LogLine{}, best).parameters()[1] == near(0.28 / 0.62, 0.02));
  CHECK(ap::training_envelope(curves, {1e30}).empty());
  CHECK(std::isnan(curves[0].loss_at(NAN)));
  CHECK_THROWS_AS(ap::training_envelope(curves, {NAN}), ap::Error);
  // The curve of the smallest of three models has ended: the next is the smallest that remains.
  const std::vector<ap::TrainingCurve> three{
      {1, {{10, 3}, {1e3, 2}}}, {2, {{10, 4}, {1e6, 1}}}, {4, {{10, 5}, {1e6, 1.5}}}};
  CHECK(ap::training_envelope(three, {1e5}).empty());
  curves[4].points[7].loss = -1;
  CHECK_THROWS_WITH_AS(ap::training_envelope(curves, {1e20}), doctest::Contains("curve 4 has a loss of -1"), ap::Error);
}

TEST_CASE("the parabolas of approach 2 have the known exponent, and a bias in size that grows with their span") {
  const std::map<double, double> too_large{{2, 1.00328}, {4, 1.01318}, {8, 1.0299}, {16, 1.05374}, {100, 1.15508}};
  const ap::Fit<ap::Chinchilla> surface{{.theta = {std::log(406.4), std::log(410.7), std::log(1.69), 0.34, 0.28}}};
  for (const auto& each : too_large) {
    const double span = each.first;
    CAPTURE(span);
    std::vector<ap::Observation<1>> optima;
    double found = 0;
    for (const double flops : ap::geometric(1e17, 1e21, 5)) {
      const double best = ap::best_allocation(surface, flops).parameters;
      std::vector<ap::IsoflopRun> runs;
      for (const double n : ap::geometric(best / span, best * span, 15))
        runs.push_back({n, surface({n, flops / (6 * n)})});
      found = ap::isoflop_parabola(runs);
      CHECK(found / best == near(each.second, 1e-5));
      optima.push_back({{flops}, found});
    }
    CHECK(std::abs(ap::fit(ap::LogLine{}, optima).parameters()[1] - 0.28 / 0.62) < 1e-12);
  }
  CHECK_THROWS_WITH_AS(ap::isoflop_parabola({{1e6, 3}, {2e6, 2}, {1e6, 3.1}}),
                       "isoflop_parabola: there are two runs of 1e+06 parameters", ap::Error);
  ap::Fit<ap::Chinchilla> without = surface;
  without.theta[0] = -HUGE_VAL;
  CHECK_THROWS_AS(ap::best_allocation(without, 1e20), ap::Error);
  CHECK_THROWS_WITH_AS(ap::isoflop_parabola({{1e6, 3}, {2e6, 2}}),
                       "isoflop_parabola: there are 2 runs, expected at least 3", ap::Error);
  CHECK_THROWS_WITH_AS(ap::isoflop_parabola({{1e6, 3}, {2e6, 2}, {4e6, 1.2}}),
                       "isoflop_parabola: the minimum loss lies outside these sizes; add smaller or larger models",
                       ap::Error);
  CHECK_THROWS_WITH_AS(ap::isoflop_akima({{1e6, 3}, {2e6, 2}, {4e6, 1.2}}),
                       "isoflop_akima: the minimum loss lies outside these sizes; add smaller or larger models",
                       ap::Error);
  CHECK_THROWS_WITH_AS(ap::isoflop_akima({{1e6, 3}, {2e6, -2}, {4e6, 3}}),
                       "isoflop_akima: a loss is -2, expected a positive number", ap::Error);
  for (const auto find : {ap::isoflop_akima, ap::isoflop_parabola})
    CHECK_THROWS_WITH_AS(find({{1e6, 3}, {2e6, 3}, {4e6, 3}, {8e6, 3}}),
                         doctest::Contains("the loss is 3 at every size"), ap::Error);
  CHECK_THROWS_AS(ap::best_allocation(surface, HUGE_VAL), ap::Error);
}
