// Jet<N>: a value with its first and second derivatives with respect to N variables, propagated through arithmetic
// (second-order forward-mode differentiation). A scaling law is written once over T: T = double evaluates it, T = Jet
// differentiates it exactly.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "../../core/config.hpp"

namespace algoperf {

template <std::size_t N>
struct Jet {
  static constexpr std::size_t pairs = N * (N + 1) / 2;
  double value = 0;
  std::array<double, N> first = {};       // with respect to variable i
  std::array<double, pairs> second = {};  // with respect to variables i >= j, at index i (i + 1) / 2 + j

  Jet() = default;
  Jet(double constant) : value(constant) {}
  static Jet variable(double value, std::size_t i) {
    Jet x(value);
    x.first[i] = 1;
    return x;
  }

  // Returns f(x) for this x, given the value f, its slope f' and its curvature f'' at x.
  Jet through(double f, double slope, double curvature) const {
    Jet result(f);
    std::size_t k = 0;
    for (std::size_t i = 0; i < N; ++i) {
      result.first[i] = slope * first[i];
      for (std::size_t j = 0; j <= i; ++j, ++k) result.second[k] = slope * second[k] + curvature * first[i] * first[j];
    }
    return result;
  }

  Jet& operator+=(const Jet& b) {
    value += b.value;
    for (std::size_t i = 0; i < N; ++i) first[i] += b.first[i];
    for (std::size_t k = 0; k < pairs; ++k) second[k] += b.second[k];
    return *this;
  }
  Jet& operator*=(double factor) {
    value *= factor;
    for (double& x : first) x *= factor;
    for (double& x : second) x *= factor;
    return *this;
  }
  friend Jet operator+(Jet a, const Jet& b) { return a += b; }
  friend Jet operator+(Jet a, double b) {
    a.value += b;
    return a;
  }
  friend Jet operator+(double a, const Jet& b) { return b + a; }
  friend Jet operator-(Jet a) { return a *= -1; }
  friend Jet operator-(const Jet& a, const Jet& b) { return a + -b; }
  friend Jet operator-(const Jet& a, double b) { return a + -b; }
  friend Jet operator-(double a, const Jet& b) { return a + -b; }
  friend Jet operator*(Jet a, double b) { return a *= b; }
  friend Jet operator*(double a, Jet b) { return b *= a; }
  friend Jet operator*(const Jet& a, const Jet& b) {
    Jet result(a.value * b.value);
    std::size_t k = 0;
    for (std::size_t i = 0; i < N; ++i) {
      result.first[i] = a.first[i] * b.value + a.value * b.first[i];
      for (std::size_t j = 0; j <= i; ++j, ++k)
        result.second[k] =
            a.second[k] * b.value + a.value * b.second[k] + a.first[i] * b.first[j] + a.first[j] * b.first[i];
    }
    return result;
  }
  friend Jet operator/(const Jet& a, const Jet& b) {
    const double inverse = 1 / b.value;
    return a * b.through(inverse, -inverse * inverse, 2 * inverse * inverse * inverse);
  }
  friend Jet operator/(double a, const Jet& b) { return Jet(a) / b; }
  friend Jet operator/(Jet a, double b) { return a *= 1 / b; }
};

// Functions overloaded for double and Jet, for use in laws.
namespace jets {

inline double value(double x) { return x; }
template <std::size_t N>
double value(const Jet<N>& x) {
  return x.value;
}
inline double exp(double x) { return std::exp(x); }
template <std::size_t N>
Jet<N> exp(const Jet<N>& x) {
  const double y = std::exp(x.value);
  return x.through(y, y, y);
}
inline double log(double x) { return std::log(x); }
template <std::size_t N>
Jet<N> log(const Jet<N>& x) {
  return x.through(std::log(x.value), 1 / x.value, -1 / (x.value * x.value));
}
// Returns log(1 + e^x) without overflow.
inline double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
template <std::size_t N>
Jet<N> softplus(const Jet<N>& x) {
  const double p = 1 / (1 + std::exp(-x.value));
  return x.through(softplus(x.value), p, p * (1 - p));
}
// Returns log(e^x[0] + e^x[1] + ...) without overflow.
template <std::size_t M>
double log_sum_exp(const std::array<double, M>& x) {
  double most = x[0], sum = 0;
  for (const double each : x) most = each > most ? each : most;
  for (const double each : x) sum += std::exp(each - most);
  return most + std::log(sum);
}
template <std::size_t N, std::size_t M>
Jet<N> log_sum_exp(const std::array<Jet<N>, M>& x) {
  double most = x[0].value, sum = 0;
  for (const Jet<N>& each : x) most = each.value > most ? each.value : most;
  std::array<double, M> share;
  for (std::size_t m = 0; m < M; ++m) sum += share[m] = x[m].value == most ? 1 : std::exp(x[m].value - most);
  Jet<N> result(most + std::log(sum));
  for (std::size_t m = 0; m < M; ++m) {
    const double p = share[m] / sum;
    if (p == 0) continue;
    std::size_t k = 0;
    for (std::size_t i = 0; i < N; ++i) {
      const double slope = p * x[m].first[i];
      result.first[i] += slope;
      for (std::size_t j = 0; j <= i; ++j, ++k) result.second[k] += p * x[m].second[k] + slope * x[m].first[j];
    }
  }
  std::size_t k = 0;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j <= i; ++j, ++k) result.second[k] -= result.first[i] * result.first[j];
  return result;
}

}  // namespace jets
}  // namespace algoperf
