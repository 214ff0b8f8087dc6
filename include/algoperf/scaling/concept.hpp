// What scaling/ is about: how the cost of training grows with what one chooses. There are laws of scaling, fitted to
// what was measured (fit.hpp), and the noisy quadratic model (noisy_quadratic.hpp): the steps to a target loss as a
// function of the batch, computed without training.
//
// A law of scaling (laws/) is a struct without members that says what is expected at sizes x:
//
//   variables, parameters       static constexpr std::size_t: how many sizes, and how many numbers of its own
//   names                       static constexpr std::array<const char*, parameters>: of these, as papers write them
//   formula                     static constexpr const char*
//   log_value<T>(log_x, theta)  static: log y, in coordinates theta of its own, of which every real number is allowed
//                               (logarithms of what must be positive). T is double or a Jet, for which there are the
//                               functions of namespace jets (jet.hpp)
//   from_theta(theta)           static: the parameters, in the order of names
//   starts(points)              static: where minimisations begin; a point has log_x, log_y and weight
//   linear                      static constexpr std::size_t, optional: so many of theta, the first, are logarithms of
//                               coefficients that y is linear in (fit_values.hpp)
//   log_terms<T>(log_x, theta)  static, where linear > 1: the logarithms of the terms that add up to y, one for each
//                               coefficient and in their order
//   in_order(theta)             static, optional: the same law with terms that are alike, and may change places, in the
//                               order of what tells them apart
//
// A rule of that model (noisy_quadratic/rules.hpp has three) says what one step does to the second moments of one
// coordinate:
//
//   rate              a field, double: the learning rate
//   moments           static constexpr std::size_t: how many second moments it follows
//   start()           std::array<double, moments>: before the first step, where the mean of x^2 is 1
//   map(direction)    AffineMap<moments>: one step along an NqmDirection
//   square(moments)   the mean square of what is evaluated, x or an average of it
//   rates()           static: the learning rates to search when none are given
//   second, seconds() optional, static: &Rule::field, a second hyperparameter to search, and its values
//   check()           optional: throws Error for an impossible option, naming it
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <vector>

#include "fit/affine_map.hpp"

namespace algoperf {

namespace detail {

// An observation, as laws and fits see it.
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

// One coordinate as a rule sees it: its gradient is curvature x + a number of mean 0 and variance `noise`, and its
// learning rate is multiplied by `preconditioner`.
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

// Has it a second hyperparameter to search?
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
