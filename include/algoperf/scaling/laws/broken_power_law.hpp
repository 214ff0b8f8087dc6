#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "../fit/jet.hpp"
#include "../fit/solve.hpp"
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

  // Scans a grid of floors, and of widths and positions of the breaks. At each point of the grid, log b and the
  // exponents follow by least squares. For each floor, width and combination of signs of the c_i, the positions with
  // the least sum of squares are a start.
  template <class Points>
  static std::vector<std::array<double, parameters>> starts(const Points& points) {
    const std::vector<double> places = places_of_breaks(points);
    const Extent x = extent(points, detail::log_x);
    std::vector<std::array<double, parameters>> all;
    for (const double log_floor : log_floors(points))
      for (const double width : {0.001, 0.01, 0.04, 0.15, 0.4}) {
        std::array<Candidate, std::size_t{1} << breaks> best;
        for_each_choice(places, [&](const std::array<double, breaks>& at) {
          Candidate candidate;
          candidate.theta[0] = log_floor;
          for (std::size_t i = 0; i < breaks; ++i)
            candidate.theta[4 + 3 * i] = at[i], candidate.theta[5 + 3 * i] = std::log(width * (x.most - x.least));
          if (!solve_exponents(points, candidate)) return;
          std::size_t signs = 0;
          for (std::size_t i = 0; i < breaks; ++i) signs = 2 * signs + (candidate.theta[3 + 3 * i] > 0);
          if (candidate.squares < best[signs].squares) best[signs] = candidate;
        });
        for (const Candidate& candidate : best)
          if (candidate.squares < HUGE_VAL) all.push_back(candidate.theta);
      }
    return all;
  }

 private:
  struct Candidate {
    std::array<double, parameters> theta = {};
    double squares = HUGE_VAL;
  };
  // Returns fractions of the least y, and low percentiles of y: among noisy observations, some lie below the floor.
  template <class Points>
  static std::vector<double> log_floors(const Points& points) {
    std::vector<double> log_y, floors;
    for (const auto& p : points) log_y.push_back(p.log_y);
    std::sort(log_y.begin(), log_y.end());
    for (const double share : {1e-3, 0.4, 0.7, 0.9, 0.97, 0.995}) floors.push_back(log_y[0] + std::log(share));
    for (const double share : {0.05, 0.15, 0.35})
      floors.push_back(log_y[static_cast<std::size_t>(share * static_cast<double>(log_y.size()))]);
    return floors;
  }

  // Returns the midpoints between adjacent log x and a point beyond each end, thinned so that there are at most a few
  // hundred choices of positions for all breaks.
  template <class Points>
  static std::vector<double> places_of_breaks(const Points& points) {
    constexpr std::size_t most = breaks == 1 ? 100 : breaks == 2 ? 20 : breaks + 6;
    std::vector<double> log_x, places;
    for (const auto& p : points) log_x.push_back(p.log_x[0]);
    std::sort(log_x.begin(), log_x.end());
    const double margin = 0.05 * (log_x.back() - log_x.front());
    log_x.insert(log_x.begin(), log_x.front() - 2 * margin);
    log_x.push_back(log_x.back() + 2 * margin);
    for (std::size_t i = 1; i < log_x.size(); ++i)
      if (log_x[i] > log_x[i - 1]) places.push_back((log_x[i - 1] + log_x[i]) / 2);
    if (places.size() <= most) return places;
    std::vector<double> thinned;
    for (std::size_t i = 0; i < most; ++i) thinned.push_back(places[i * (places.size() - 1) / (most - 1)]);
    return thinned;
  }

  // Calls f(at) for each choice of distinct places in ascending order.
  template <class F>
  static void for_each_choice(const std::vector<double>& places, const F& f) {
    if (places.size() < breaks) return;
    std::array<std::size_t, breaks> chosen;
    for (std::size_t i = 0; i < breaks; ++i) chosen[i] = i;
    for (;;) {
      std::array<double, breaks> at;
      for (std::size_t i = 0; i < breaks; ++i) at[i] = places[chosen[i]];
      f(at);
      std::size_t i = breaks;
      while (i > 0 && chosen[i - 1] == places.size() - 1 - (breaks - i)) --i;
      if (i == 0) return;
      ++chosen[i - 1];
      for (; i < breaks; ++i) chosen[i] = chosen[i - 1] + 1;
    }
  }

  // Sets log b and the exponents for the candidate's floor and breaks, and the sum of squares of residuals of log y.
  // The first step fits log (y - a), which is linear in them; Gauss-Newton steps follow while they lower the squares.
  // Returns false if the points do not determine the exponents.
  template <class Points>
  static bool solve_exponents(const Points& points, Candidate& candidate) {
    constexpr std::size_t unknowns = 2 + breaks, steps = 4;
    const double floor = std::exp(candidate.theta[0]);
    for (std::size_t step = 0; step < steps; ++step) {
      std::array<std::array<double, unknowns>, unknowns> products = {};
      std::array<double, unknowns> right = {}, solution = {};
      for (const auto& p : points) {
        std::array<double, unknowns> row = {1, -p.log_x[0]};
        for (std::size_t i = 0; i < breaks; ++i) {
          const double width = std::exp(candidate.theta[5 + 3 * i]);
          row[2 + i] = -width * jets::softplus((p.log_x[0] - candidate.theta[4 + 3 * i]) / width);
        }
        const double y = std::exp(p.log_y);
        double share = (y - floor) / y, target = std::log(y - floor);  // share = d log y / d target
        if (step > 0) {
          const std::array<double, 2> terms = log_terms(p.log_x, candidate.theta);
          const double log_value = jets::log_sum_exp(terms);
          share = std::exp(terms[1] - log_value);
          target = terms[1] + (p.log_y - log_value) / share;
        }
        if (share < 1e-6) continue;
        for (std::size_t i = 0; i < unknowns; ++i) {
          for (std::size_t j = 0; j < unknowns; ++j) products[i][j] += p.weight * share * share * row[i] * row[j];
          right[i] += p.weight * share * share * row[i] * target;
        }
      }
      if (!solve(products, right, solution)) break;
      Candidate next{.theta = candidate.theta, .squares = 0};
      next.theta[1] = solution[0], next.theta[2] = solution[1];
      for (std::size_t i = 0; i < breaks; ++i) next.theta[3 + 3 * i] = solution[2 + i];
      for (const auto& p : points) next.squares += p.weight * std::pow(log_value(p.log_x, next.theta) - p.log_y, 2);
      if (!(next.squares < candidate.squares)) break;
      candidate = next;
    }
    return candidate.squares < HUGE_VAL;
  }
};

}  // namespace algoperf
