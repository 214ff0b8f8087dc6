// How a budget of compute is best divided between a model's size and its data: approaches 1, 2 and 3 of Hoffmann et
// al. 2022 (arXiv:2203.15556, section 3).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../core/error.hpp"
#include "fit.hpp"
#include "laws/chinchilla.hpp"
#include "solve.hpp"

namespace algoperf {

// N parameters on D samples, which cost `per_pair` N D FLOPs: 6 for a forward and a backward pass of products alone.
struct Allocation {
  double parameters = 0, samples = 0;
};

// The N and D of least E + A / N^alpha + B / D^beta that cost `flops`: N = G (C / k)^a, D = (C / k)^(1 - a) / G,
// G = (alpha A / (beta B))^(1 / (alpha + beta)), a = beta / (alpha + beta).
inline Allocation best_allocation(const Fit<Chinchilla>& fit, double flops, double per_pair = 6) {
  require(flops > 0 && per_pair > 0, "best_allocation: ", flops, " FLOPs at ", per_pair,
          " for each parameter and sample, expected positive numbers");
  const auto [a, b, e, alpha, beta] = fit.parameters();
  require(a > 0 && b > 0 && alpha > 0 && beta > 0, "best_allocation: A, B, alpha and beta are ", a, ", ", b, ", ",
          alpha, " and ", beta, ", where one of the sizes brings nothing");
  const double pairs = flops / per_pair, share = beta / (alpha + beta);
  const double g = std::pow(alpha * a / (beta * b), 1 / (alpha + beta));
  return {g * std::pow(pairs, share), std::pow(pairs, 1 - share) / g};
}

// The training of one model: FLOPs spent so far and the loss they brought, both in rising order of FLOPs.
struct TrainingCurve {
  struct Point {
    double flops = 0, loss = 0;
  };
  double parameters = 0;
  std::vector<Point> points = {};

  // Between its points, a line in logarithms; NAN before and after them.
  double loss_at(double flops) const {
    const auto after = std::lower_bound(points.begin(), points.end(), flops,
                                        [](const Point& point, double at) { return point.flops < at; });
    if (after == points.end() || (after == points.begin() && after->flops > flops)) return NAN;
    if (after->flops == flops) return after->loss;
    const Point& before = *(after - 1);
    const double share = std::log(flops / before.flops) / std::log(after->flops / before.flops);
    return std::exp((1 - share) * std::log(before.loss) + share * std::log(after->loss));
  }
};

// Approach 1: the envelope of training curves. For each budget the size whose loss is then least, as observations of
// best size against FLOPs, to which a PowerLaw or LogLine can be fitted. Left out are budgets at which the smallest or
// the largest model that was trained so far is best, since a better one may lie beyond. Throws Error if a curve has
// numbers that are not positive, or FLOPs that do not rise.
inline std::vector<Observation<1>> training_envelope(const std::vector<TrainingCurve>& curves,
                                                     const std::vector<double>& budgets) {
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const TrainingCurve& curve = curves[i];
    require(curve.parameters > 0, "training_envelope: curve ", i, " is of ", curve.parameters, " parameters");
    double before = 0;
    for (const auto& point : curve.points) {
      require(point.flops > before && point.loss > 0, "training_envelope: curve ", i, " has a loss of ", point.loss,
              " after ", point.flops, " FLOPs, which follow ", before, "; expected a positive loss and rising FLOPs");
      before = point.flops;
    }
  }
  std::vector<Observation<1>> best;
  for (const double budget : budgets) {
    double least = HUGE_VAL, parameters = 0, smallest = HUGE_VAL, largest = 0;
    for (const TrainingCurve& curve : curves) {
      const double loss = curve.loss_at(budget);
      if (std::isnan(loss)) continue;
      smallest = std::fmin(smallest, curve.parameters), largest = std::fmax(largest, curve.parameters);
      if (loss < least) least = loss, parameters = curve.parameters;
    }
    if (least < HUGE_VAL && parameters > smallest && parameters < largest) best.push_back({{budget}, parameters});
  }
  return best;
}

// One model of an isoFLOP curve: its size, and its loss after as many samples as the budget allows.
struct IsoflopRun {
  double parameters = 0, loss = 0;
};

// The size of least loss at one budget: the vertex of the parabola of least squares through loss against log N. It is
// exact only as far as the curve is a parabola: on one of Hoffmann's own surfaces runs over a factor of 16 to each side
// put it 5 % too high. Throws Error with fewer than three runs, and where the parabola has no minimum among them.
inline double isoflop_minimum(const std::vector<IsoflopRun>& runs) {
  require(runs.size() >= 3, "isoflop_minimum: there are ", runs.size(), " runs, expected at least 3");
  double middle = 0, first = HUGE_VAL, last = -HUGE_VAL;
  for (const IsoflopRun& run : runs) {
    require(run.parameters > 0 && run.parameters < HUGE_VAL && std::isfinite(run.loss), "isoflop_minimum: a run of ",
            run.parameters, " parameters has loss ", run.loss);
    const double x = std::log(run.parameters);
    middle += x / static_cast<double>(runs.size());
    first = std::fmin(first, x), last = std::fmax(last, x);
  }
  std::array<std::array<double, 3>, 3> normal = {};
  std::array<double, 3> right = {}, parabola;
  for (const IsoflopRun& run : runs) {
    const double x = std::log(run.parameters) - middle;
    const std::array<double, 3> powers = {1, x, x * x};
    for (std::size_t i = 0; i < 3; ++i) {
      right[i] += powers[i] * run.loss;
      for (std::size_t j = 0; j < 3; ++j) normal[i][j] += powers[i] * powers[j];
    }
  }
  require(solve(normal, right, parabola), "isoflop_minimum: the runs have fewer than three sizes");
  const double vertex = middle - 0.5 * parabola[1] / parabola[2];
  require(parabola[2] > 0 && vertex >= first && vertex <= last,
          "isoflop_minimum: the least loss is not among these sizes; train smaller or larger models, too");
  return std::exp(vertex);
}

}  // namespace algoperf
