#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../fit/jet.hpp"
#include "weighted_points.hpp"

namespace algoperf {

namespace detail {

template <std::size_t breaks>
inline constexpr std::array<const char*, 3 + 3 * breaks> names_of_broken_power_law = [] {
  constexpr const char* all[] = {"a",  "b",  "c0", "c1", "d1", "f1", "c2", "d2",
                                 "f2", "c3", "d3", "f3", "c4", "d4", "f4"};
  std::array<const char*, 3 + 3 * breaks> names = {};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = all[i];
  return names;
}();

}  // namespace detail

// Broken neural scaling law (Caballero et al. 2023, arXiv:2210.14891):
//   y = a + b x^-c0 prod_i (1 + (x / d_i)^(1 / f_i))^(-c_i f_i)
// The exponent of a power law changes by c_i at each break d_i, over a width of f_i in log x. The law approaches the
// floor a.
template <std::size_t breaks = 1>
struct BrokenPowerLaw {
  static_assert(breaks >= 1 && breaks <= 4, "algoperf: a BrokenPowerLaw has 1 to 4 breaks");
  static constexpr std::size_t variables = 1, parameters = 3 + 3 * breaks, linear = 2;
  static constexpr std::array<const char*, parameters> names = detail::names_of_broken_power_law<breaks>;
  static constexpr const char* formula = "y = a + b x^-c0 prod_i (1 + (x / d_i)^(1 / f_i))^(-c_i f_i)";

  // theta = log a, log b, c0, then c_i, log d_i, log f_i for each break.
  template <class T>
  static std::array<T, 2> log_terms(const std::array<double, 1>& log_x, const std::array<T, parameters>& theta) {
    T power = theta[1] - theta[2] * log_x[0];
    for (std::size_t i = 0; i < breaks; ++i) {
      const T width = jets::exp(theta[5 + 3 * i]);
      power = power - theta[3 + 3 * i] * width * jets::softplus((log_x[0] - theta[4 + 3 * i]) / width);
    }
    return {theta[0], power};
  }
  template <class T>
  static T log_value(const std::array<double, 1>& log_x, const std::array<T, parameters>& theta) {
    return jets::log_sum_exp(log_terms(log_x, theta));
  }
  static std::array<double, parameters> from_theta(const std::array<double, parameters>& t) {
    std::array<double, parameters> p = {std::exp(t[0]), std::exp(t[1]), t[2]};
    for (std::size_t i = 0; i < breaks; ++i) {
      p[3 + 3 * i] = t[3 + 3 * i];
      p[4 + 3 * i] = std::exp(t[4 + 3 * i]);
      p[5 + 3 * i] = std::exp(t[5 + 3 * i]);
    }
    return p;
  }

  // Sorts the breaks by their positions d_i.
  static std::array<double, parameters> in_order(std::array<double, parameters> theta) {
    std::array<std::array<double, 3>, breaks> each;
    for (std::size_t i = 0; i < breaks; ++i) each[i] = {theta[3 + 3 * i], theta[4 + 3 * i], theta[5 + 3 * i]};
    std::sort(each.begin(), each.end(), [](const auto& a, const auto& b) { return a[1] < b[1]; });
    for (std::size_t i = 0; i < breaks; ++i) std::copy(each[i].begin(), each[i].end(), theta.begin() + 3 + 3 * i);
    return theta;
  }

  // Places the breaks on an even grid in log x, with two widths, and floors at two fractions of the minimum y. The
  // slopes between breaks come from lines fitted by least squares.
  template <class Points>
  static std::vector<std::array<double, parameters>> starts(const Points& points) {
    const auto [first, last] = extent(points, detail::log_x);
    const double least = extent(points, detail::log_y).least;
    constexpr std::size_t places = breaks + 4;
    std::array<std::size_t, breaks> at;
    for (std::size_t i = 0; i < breaks; ++i) at[i] = i;
    std::vector<std::array<double, parameters>> all;
    for (;;) {
      std::array<double, breaks> place;
      for (std::size_t i = 0; i < breaks; ++i)
        place[i] = first + (last - first) * (static_cast<double>(at[i]) + 1) / (places + 1.0);
      for (const double share : {0.01, 0.7})
        for (const double width : {0.15, 1.0}) {
          const double floor = share * std::exp(least);
          std::array<double, parameters> theta = {std::log(floor), 0, 0};
          double before = 0;
          for (std::size_t i = 0; i <= breaks; ++i) {
            const double from = i == 0 ? -HUGE_VAL : place[i - 1], to = i == breaks ? HUGE_VAL : place[i];
            const Line line = least_squares_line(
                points, [&](const auto& p) { return p.log_x[0] >= from && p.log_x[0] <= to ? p.log_x[0] : NAN; },
                [&](const auto& p) { return std::log(std::exp(p.log_y) - floor); });
            if (i == 0)
              theta[2] = -line.slope;
            else
              theta[3 * i] = -line.slope - before, theta[3 * i + 1] = place[i - 1], theta[3 * i + 2] = std::log(width);
            before = -line.slope;
          }
          theta[1] = weighted_mean(points, [&](const auto& p) {
            return std::log(std::exp(p.log_y) - floor) - log_terms(p.log_x, theta)[1];
          });
          all.push_back(theta);
        }
      std::size_t i = breaks;
      while (i > 0 && at[i - 1] == places - 1 - (breaks - i)) --i;
      if (i == 0) return all;
      ++at[i - 1];
      for (; i < breaks; ++i) at[i] = at[i - 1] + 1;
    }
  }
};

}  // namespace algoperf
