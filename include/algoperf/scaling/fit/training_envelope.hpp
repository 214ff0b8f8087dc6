#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../../core/error.hpp"
#include "observations.hpp"

namespace algoperf {

// The training curve of one model: the loss as a function of the FLOPs spent so far, in increasing order of FLOPs.
struct TrainingCurve {
  struct Point {
    double flops = 0, loss = 0;
  };
  double parameters = 0;
  std::vector<Point> points = {};

  // Returns the loss, interpolated linearly in logarithms between points; NaN before the first and after the last.
  double loss_at(double flops) const {
    if (points.empty() || !(flops >= points.front().flops && flops <= points.back().flops)) return NAN;
    const auto after = std::lower_bound(points.begin(), points.end(), flops,
                                        [](const Point& point, double at) { return point.flops < at; });
    if (after->flops == flops) return after->loss;
    const Point& before = *(after - 1);
    const double share = std::log(flops / before.flops) / std::log(after->flops / before.flops);
    return std::exp((1 - share) * std::log(before.loss) + share * std::log(after->loss));
  }
};

// Approach 1 of Hoffmann et al. 2022 (arXiv:2203.15556): the envelope of training curves. For each budget it finds
// the size with the lowest loss, and returns observations of best size against FLOPs, to which a PowerLaw or LogLine
// can be fitted. A budget is skipped if the best model is the smallest or the largest of those whose curves cover it,
// because a better size may lie beyond. Throws Error if a value is not positive or the FLOPs of a curve do not
// increase.
inline std::vector<Observation<1>> training_envelope(const std::vector<TrainingCurve>& curves,
                                                     const std::vector<double>& budgets) {
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const TrainingCurve& curve = curves[i];
    require(curve.parameters > 0 && curve.parameters < HUGE_VAL, "training_envelope: curve ", i, " has ",
            curve.parameters, " parameters, expected a positive number");
    double before = 0;
    for (const auto& point : curve.points) {
      require(point.flops > before && point.flops < HUGE_VAL && point.loss > 0 && point.loss < HUGE_VAL,
              "training_envelope: curve ", i, " has a loss of ", point.loss, " after ", point.flops,
              " FLOPs, which follow ", before, "; expected a positive loss and increasing FLOPs");
      before = point.flops;
    }
  }
  std::vector<Observation<1>> best;
  for (const double budget : budgets) {
    require(budget > 0, "training_envelope: a budget is ", budget, ", expected a positive number");
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

}  // namespace algoperf
