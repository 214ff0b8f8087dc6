#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/percentile.hpp"
#include "fit.hpp"
#include "fit_objective.hpp"
#include "minimize.hpp"
#include "observations.hpp"
#include "residual_loss.hpp"
#include "sensitivity.hpp"
#include "student_t.hpp"

namespace algoperf {

namespace detail {

// A sum of squares as a function of all coordinates but one, which is held fixed.
template <std::size_t Variables, std::size_t all>
struct HeldObjective {
  static constexpr std::size_t others = all - 1;
  const FitObjective<Variables, all>& whole;
  std::size_t held;
  double value;

  std::array<double, all> with(const std::array<double, others>& rest) const {
    std::array<double, all> theta;
    for (std::size_t i = 0; i < all; ++i) theta[i] = i == held ? value : rest[i < held ? i : i - 1];
    return theta;
  }
  std::array<double, others> without(const std::array<double, all>& theta) const {
    std::array<double, others> rest;
    for (std::size_t i = 0; i < others; ++i) rest[i] = theta[place(i)];
    return rest;
  }
  double operator()(const std::array<double, others>& rest) const { return whole(with(rest)); }
  Jet<others> derivatives(const std::array<double, others>& rest, std::array<double, Jet<others>::pairs>& bound) const {
    std::array<double, Jet<all>::pairs> whole_bound;
    const Jet<all> f = whole.derivatives(with(rest), whole_bound);
    Jet<others> of_rest(f.value);
    std::size_t k = 0;
    for (std::size_t i = 0; i < others; ++i) {
      of_rest.first[i] = f.first[place(i)];
      for (std::size_t j = 0; j <= i; ++j, ++k) {
        const std::size_t pair = place(i) * (place(i) + 1) / 2 + place(j);
        of_rest.second[k] = f.second[pair];
        bound[k] = whole_bound[pair];
      }
    }
    return of_rest;
  }

 private:
  std::size_t place(std::size_t i) const { return i < held ? i : i + 1; }
};

}  // namespace detail

// Returns the profile interval of parameter number `parameter`, in the order of Law::names. It contains the values at
// which the other parameters can be chosen so that the sum of squares S stays within S_min (1 + t^2 / (n - k)), where
// t is Student's quantile with n - k degrees of freedom, for n observations and k parameters. This is a
// likelihood-ratio interval for normal errors of log y with unknown variance, exact if the law is linear in its
// coordinates (Bates & Watts 1988, section 6.1). Unlike an interval from the curvature at the optimum, it detects an
// end that the observations do not bound: that end is 0 or infinite.
//
// `fit` must be the least-squares fit of these observations. Throws Error if it is not, if it did not converge, if
// n = k, or if the parameter is computed from several coordinates (SigmoidPowerLaw's e_0 and b, Kaplan's Nc and Dc);
// bootstrap() has intervals for these.
template <ScalingLaw Law>
Interval profile_interval(const Fit<Law>& fit, const std::vector<Observation<Law::variables>>& observations,
                          std::size_t parameter, double level = 0.95) {
  constexpr std::size_t all = Law::parameters;
  check_observations(observations, all);
  require(parameter < all, "profile_interval: parameter is ", parameter, ", expected less than ", all);
  require(observations.size() > all, "profile_interval: there are ", observations.size(), " observations for ", all,
          " parameters, expected more observations than parameters");
  for (std::size_t i = 0; i < all; ++i) {
    std::array<double, all> moved = fit.theta;
    moved[i] += 0.25;
    require(i == parameter || Law::from_theta(moved)[parameter] == fit.parameters()[parameter],
            "profile_interval: ", Law::names[parameter], " of ", Law::formula,
            " is computed from several coordinates; use bootstrap() for its interval");
  }
  require(fit.converged, "profile_interval: the fit did not converge");
  const auto points = detail::fit_points(observations);
  const auto sum = detail::fit_objective<Law>(points, SquaredResiduals{});
  require(detail::same_sum(points, fit.objective, sum(fit.theta)), "profile_interval: the fit's objective is ",
          fit.objective, ", but the squares of these observations sum to ", sum(fit.theta));
  const std::size_t freedom = observations.size() - all;
  const double t = student_t_quantile(level, freedom);
  const double most = fit.objective * (1 + t * t / static_cast<double>(freedom)) + detail::negligible(points);

  const auto starts = detail::Restarts<Law::variables, all>(sum.law, points, fit.theta).of(points);
  const auto end = [&](double direction) {
    std::array<double, all> theta = fit.theta;  // the optimum at the last value inside the interval
    const auto allows = [&](double value) {
      const detail::HeldObjective<Law::variables, all> rest{sum, parameter, value};
      const auto from = [&](const std::array<double, all>& start) {
        const auto minimum = minimize(rest, rest.without(start), detail::negligible(points));
        if (minimum.value <= most) theta = rest.with(minimum.at);
        return minimum.value <= most;
      };
      return from(theta) || std::any_of(starts.rbegin(), starts.rend(), from);
    };
    double inside = fit.theta[parameter], outside = inside;
    constexpr double far = 100;
    for (double step = 1e-3; inside == outside || allows(outside); step *= 2) {
      inside = outside;
      outside = fit.theta[parameter] + direction * step;
      if (step > far) {
        theta[parameter] = direction * HUGE_VAL;
        return Law::from_theta(theta)[parameter];
      }
    }
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (inside + outside);
      (allows(middle) ? inside : outside) = middle;
    }
    theta[parameter] = inside;
    return Law::from_theta(theta)[parameter];
  };
  const double a = end(-1), b = end(1);
  return {std::fmin(a, b), std::fmax(a, b)};
}

}  // namespace algoperf
