// Scaling laws, and the rules of the noisy quadratic model: the concepts that user types of scaling/ satisfy.
//
// scaling/ describes how the loss and the cost of training depend on the data, the model size, the compute and the
// batch size. It has two parts:
//   - scaling laws, fitted to measurements (fit/fit.hpp);
//   - the noisy quadratic model (noisy_quadratic/noisy_quadratic.hpp), which computes the number of steps to a target
//     loss as a function of the batch size, without training.
//
// A scaling law (laws/) is a struct without data members. It predicts y at sizes x:
//
//   variables, parameters       static constexpr std::size_t: the number of sizes, and the number of parameters
//   names                       static constexpr std::array<const char*, parameters>: parameter names, as in the papers
//   formula                     static constexpr const char*
//   log_value<T>(log_x, theta)  static: log y. theta are the law's internal coordinates, in which every real number is
//                               valid (logarithms of the parameters that must be positive). T is double or a Jet; the
//                               functions of namespace jets accept both (fit/jet.hpp)
//   from_theta(theta)           static: the parameters, in the order of names
//   starts(points)              static: starting coordinates of the minimisations; a point has log_x, log_y and weight
//   linear                      static constexpr std::size_t, optional: the first `linear` entries of theta are
//                               logarithms of coefficients in which y is linear (fit/fit_values.hpp)
//   log_terms<T>(log_x, theta)  static, required if linear > 1: the logarithms of the terms whose sum is y, one per
//                               coefficient, in the order of the coefficients
//   in_order(theta)             static, optional: for a law with interchangeable terms, the coordinates of the same law
//                               with these terms sorted
//
// A rule of the noisy quadratic model (noisy_quadratic/rules.hpp has three) states how one step changes the second
// moments of one coordinate:
//
//   rate              a field, double: the learning rate
//   moments           static constexpr std::size_t: the number of second moments that the rule tracks
//   start()           std::array<double, moments>: their values before the first step, where the mean of x^2 is 1
//   map(direction)    AffineMap<moments>: one step along an NqmDirection
//   square(moments)   the mean square of the quantity at which the loss is evaluated: x, or an average of x over steps
//   rates()           static: the learning rates that a search tries by default
//   second, seconds() optional, static: &Rule::field, a second hyperparameter to search, and the values to try
//   check()           optional: throws Error for an invalid option, naming it
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <vector>

#include "fit/affine_map.hpp"

namespace algoperf {

namespace detail {

// An observation in the form that laws and fits use: logarithms of x and y, and a weight.
template <std::size_t Variables>
struct FitPoint {
  std::array<double, Variables> log_x;
  double log_y, weight;
};

}  // namespace detail

template <class L>
concept ScalingLaw = requires(const std::array<double, L::variables>& log_x,
                              const std::array<double, L::parameters>& theta,
                              const std::vector<detail::FitPoint<L::variables>>& points) {
  { L::names[0] } -> std::convertible_to<const char*>;
  { L::formula } -> std::convertible_to<const char*>;
  { L::template log_value<double>(log_x, theta) } -> std::same_as<double>;
  { L::from_theta(theta) } -> std::same_as<std::array<double, L::parameters>>;
  { L::starts(points) } -> std::convertible_to<std::vector<std::array<double, L::parameters>>>;
};

// One coordinate of the model. Its gradient is curvature x + noise, where the noise has mean 0 and variance `noise`.
// Its learning rate is multiplied by `preconditioner`.
struct NqmDirection {
  double curvature = 1, preconditioner = 1, noise = 0;
};

template <class R>
concept NqmRule = requires(R& rule, const R& r, const NqmDirection& direction) {
  { rule.rate } -> std::same_as<double&>;
  { r.start() } -> std::same_as<std::array<double, R::moments>>;
  { r.map(direction) } -> std::same_as<AffineMap<R::moments>>;
  { r.square(r.start()) } -> std::convertible_to<double>;
  { R::rates() } -> std::convertible_to<std::vector<double>>;
};

// A rule with a second hyperparameter to search.
template <class R>
concept NqmRuleOfTwo = NqmRule<R> && requires(R& rule) {
  { rule.*R::second } -> std::same_as<double&>;
  { R::seconds() } -> std::convertible_to<std::vector<double>>;
};

namespace detail {

template <class R>
consteval bool explain_nqm_rule() {
  static_assert(NqmRule<R>,
                "algoperf: a rule of the noisy quadratic model is NqmSgd{}, NqmMomentum{}, NqmEma{}, or a struct with "
                "rate, moments, start(), map(NqmDirection), square(moments) and rates(): see scaling/concept.hpp");
  return true;
}

}  // namespace detail
}  // namespace algoperf
