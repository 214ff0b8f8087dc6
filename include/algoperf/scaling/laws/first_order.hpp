// The cost of a training step, to first order in the model size and the batch size (Hestness et al. 2019, "Beyond
// Human-Level Accuracy", section 4): three laws to fit to sweeps over sizes and batches.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

namespace detail {

// y = factor times the product of the sizes.
template <std::size_t Variables>
struct Proportional {
  static constexpr std::size_t variables = Variables, parameters = 1;

  template <class T>
  static T log_value(const std::array<double, Variables>& logs, const std::array<T, 1>& theta) {
    T sum = theta[0];
    for (const double each : logs) sum = sum + each;
    return sum;
  }
  static std::array<double, 1> from_theta(const std::array<double, 1>& t) { return {std::exp(t[0])}; }
  template <class Points>
  static std::vector<std::array<double, 1>> starts(const Points& points) {
    return {{weighted_mean(points, [](const auto& p) { return p.log_y - log_value<double>(p.log_x, {0}); })}};
  }
};

}  // namespace detail

// FLOPs of a step with p parameters on a batch of b samples: C = gamma p b.
struct StepFlops : detail::Proportional<2> {
  static constexpr std::array<const char*, 1> names = {"gamma"};
  static constexpr const char* formula = "C = gamma p b";
};

// Bytes read and written by a step: A = lambda p + mu b sqrt p. The first term is for the parameters, the second for
// the activations.
struct StepBytes {
  static constexpr std::size_t variables = 2, parameters = 2;
  static constexpr std::array<const char*, 2> names = {"lambda", "mu"};
  static constexpr const char* formula = "A = lambda p + mu b sqrt p";

  template <class T>
  static T log_value(const std::array<double, 2>& log_x, const std::array<T, 2>& theta) {
    return jets::log_sum_exp(std::array<T, 2>{theta[0] + log_x[0], theta[1] + (log_x[1] + 0.5 * log_x[0])});
  }
  static std::array<double, 2> from_theta(const std::array<double, 2>& t) { return {std::exp(t[0]), std::exp(t[1])}; }
  // Tries several fractions of the bytes for the parameters.
  template <class Points>
  static std::vector<std::array<double, 2>> starts(const Points& points) {
    const double of_p = weighted_mean(points, [](const auto& p) { return p.log_y - p.log_x[0]; });
    const double of_b = weighted_mean(points, [](const auto& p) { return p.log_y - p.log_x[1] - 0.5 * p.log_x[0]; });
    std::vector<std::array<double, 2>> all;
    for (const double share : {0.01, 0.5, 0.99}) all.push_back({of_p + std::log(share), of_b + std::log(1 - share)});
    return all;
  }
};

// The minimum memory of a step, in bytes: F = delta p.
struct StepFootprint : detail::Proportional<1> {
  static constexpr std::array<const char*, 1> names = {"delta"};
  static constexpr const char* formula = "F = delta p";
};

}  // namespace algoperf
