#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../fit/akima.hpp"
#include "../fit/solve.hpp"

namespace algoperf {

// One model of an isoFLOP curve: its size, and its loss after as many samples as the budget permits.
struct IsoflopRun {
  double parameters = 0, loss = 0;
};

namespace detail {

// log N in increasing order, and the losses.
struct IsoflopCurve {
  std::vector<double> x, loss;
};

inline void require_among(const char* who, bool among) {
  require(among, who, ": the minimum loss lies outside these sizes; add smaller or larger models");
}

inline IsoflopCurve isoflop_curve(const char* who, std::vector<IsoflopRun> runs) {
  require(runs.size() >= 3, who, ": there are ", runs.size(), " runs, expected at least 3");
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.parameters < b.parameters; });
  IsoflopCurve curve;
  for (const IsoflopRun& run : runs) {
    require(run.parameters > 0 && run.parameters < HUGE_VAL && std::isfinite(run.loss), who,
            ": expected a positive size and a finite loss, but a run of ", run.parameters, " parameters has loss ",
            run.loss);
    const double x = std::log(run.parameters);
    require(curve.x.empty() || x > curve.x.back(), who, ": there are two runs of ", run.parameters, " parameters");
    curve.x.push_back(x), curve.loss.push_back(run.loss);
  }
  const auto [least, most] = std::minmax_element(curve.loss.begin(), curve.loss.end());
  require(*most - *least > 1e-12 * std::fabs(*most), who, ": the loss is ", *least, " at every size");
  return curve;
}

}  // namespace detail

// Approach 2 of Hoffmann et al. 2022 (arXiv:2203.15556): returns the size of minimum loss at one budget, as the
// vertex of a parabola fitted by least squares to the loss against log N. The result is exact only if the curve is a
// parabola: on one of Hoffmann's own surfaces, runs over a factor of 16 to each side put it 5 % too high. Throws
// Error if there are fewer than three runs, if two have the same size, if all have the same loss, or if the parabola
// has no minimum among them.
inline double isoflop_parabola(const std::vector<IsoflopRun>& runs) {
  constexpr const char* who = "isoflop_parabola";
  const detail::IsoflopCurve curve = detail::isoflop_curve(who, runs);
  double middle = 0;
  for (const double x : curve.x) middle += x / static_cast<double>(curve.x.size());
  std::array<std::array<double, 3>, 3> normal = {};
  std::array<double, 3> right = {}, parabola;
  for (std::size_t r = 0; r < curve.x.size(); ++r) {
    const double x = curve.x[r] - middle;
    const std::array<double, 3> powers = {1, x, x * x};
    for (std::size_t i = 0; i < 3; ++i) {
      right[i] += powers[i] * curve.loss[r];
      for (std::size_t j = 0; j < 3; ++j) normal[i][j] += powers[i] * powers[j];
    }
  }
  require(solve(normal, right, parabola), who, ": the sizes are too close to one another");
  const double vertex = middle - 0.5 * parabola[1] / parabola[2];
  detail::require_among(who, parabola[2] > 0 && vertex >= curve.x.front() && vertex <= curve.x.back());
  return std::exp(vertex);
}

// Returns the size of minimum loss at one budget by the method of Porian et al. 2024 (arXiv:2406.19146): the minimum
// of an Akima curve through log loss against log N. The curve need not be a parabola, so runs far from the minimum do
// not bias it. But the noise of the three or four runs next to the minimum is not averaged out, and if the best run
// is next to the smallest or the largest, the slopes beside it are partly extrapolated. The paper takes the best
// point of a grid; this function takes the minimum of the curve itself. Throws Error as isoflop_parabola does.
inline double isoflop_akima(const std::vector<IsoflopRun>& runs) {
  constexpr const char* who = "isoflop_akima";
  detail::IsoflopCurve curve = detail::isoflop_curve(who, runs);
  for (double& loss : curve.loss) {
    require(loss > 0, who, ": a loss is ", loss, ", expected a positive number");
    loss = std::log(loss);
  }
  const double first = curve.x.front(), last = curve.x.back();
  const double least = AkimaCurve(std::move(curve.x), std::move(curve.loss)).minimum();
  detail::require_among(who, least > first && least < last);
  return std::exp(least);
}

}  // namespace algoperf
