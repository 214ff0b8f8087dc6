#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "jet.hpp"

namespace algoperf {

// The end point of a minimisation. `converged`: a Newton step from there would lower f by less than its last bits.
template <std::size_t N>
struct Minimum {
  std::array<double, N> at = {};
  double value = HUGE_VAL;
  bool converged = false;
  std::size_t iterations = 0;
};

namespace detail {

// Solves (f'' + damping bound) step = -f' by a Cholesky factorisation. Returns false if the matrix is not positive
// definite.
template <std::size_t N>
bool damped_step(const Jet<N>& f, double damping, const std::array<double, Jet<N>::pairs>& bound,
                 std::array<double, N>& step) {
  std::array<double, Jet<N>::pairs> l;
  for (std::size_t k = 0; k < l.size(); ++k) l[k] = f.second[k] + damping * bound[k];
  const auto at = [](std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; };
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = l[at(i, j)];
      for (std::size_t k = 0; k < j; ++k) sum -= l[at(i, k)] * l[at(j, k)];
      if (i != j) {
        l[at(i, j)] = sum / l[at(j, j)];
      } else {
        if (!(sum > 1e-13 * bound[at(i, i)])) return false;
        l[at(i, i)] = std::sqrt(sum);
      }
    }
  for (std::size_t i = 0; i < N; ++i) {
    step[i] = -f.first[i];
    for (std::size_t k = 0; k < i; ++k) step[i] -= l[at(i, k)] * step[k];
    step[i] /= l[at(i, i)];
  }
  for (std::size_t i = N; i-- > 0;) {
    for (std::size_t k = i + 1; k < N; ++k) step[i] -= l[at(k, i)] * step[k];
    step[i] /= l[at(i, i)];
  }
  return true;
}

// Refers to a function to minimise, of any type, so that minimize_from() is compiled once per number of variables.
template <std::size_t N>
class DifferentiableRef {
  using At = std::array<double, N>;
  using Bound = std::array<double, Jet<N>::pairs>;

 public:
  template <class F>
  explicit DifferentiableRef(const F& f)
      : f_(&f),
        value_([](const void* of, const At& at) -> double { return (*static_cast<const F*>(of))(at); }),
        derivatives_([](const void* of, const At& at, Bound& bound) -> Jet<N> {
          return static_cast<const F*>(of)->derivatives(at, bound);
        }) {}
  double operator()(const At& at) const { return value_(f_, at); }
  Jet<N> derivatives(const At& at, Bound& bound) const { return derivatives_(f_, at, bound); }

 private:
  const void* f_;
  double (*value_)(const void*, const At&);
  Jet<N> (*derivatives_)(const void*, const At&, Bound&);
};

template <std::size_t N>
Minimum<N> minimize_from(const DifferentiableRef<N>& f, const std::array<double, N>& from, double negligible,
                         std::size_t iterations) {
  constexpr double last_bits = 4e-16;
  Minimum<N> m{.at = from};
  std::array<double, Jet<N>::pairs> bound;
  Jet<N> now = f.derivatives(m.at, bound);
  double damping = 1e-3;
  const auto moved = [&](const std::array<double, N>& step) {
    std::array<double, N> next = m.at;
    for (std::size_t i = 0; i < N; ++i) next[i] += step[i];
    return next;
  };
  // Takes one last Newton step without damping. Rounding hides the differences between nearby values of f, but not
  // the slope. The sums in f may round to a value that is higher by up to a relative 1e-13.
  const auto finish = [&] {
    std::array<double, N> step;
    if (damped_step(now, 0, bound, step) && f(moved(step)) <= now.value * (1 + 1e-13) + negligible) m.at = moved(step);
    m.converged = true;
  };
  for (; m.iterations < iterations && std::isfinite(now.value); ++m.iterations) {
    m.value = now.value;
    double largest = 0;
    for (std::size_t i = 0; i < N; ++i) largest = std::fmax(largest, bound[i * (i + 1) / 2 + i]);
    for (std::size_t i = 0; i < N; ++i) {  // enlarge the diagonal, so that damping works where bound is singular
      double& diagonal = bound[i * (i + 1) / 2 + i];
      diagonal = 2 * diagonal + 1e-9 * largest + 1e-300;
    }
    bool lower = false;
    while (!lower && damping < 1e12) {
      std::array<double, N> step;
      if (!damped_step(now, damping, bound, step)) {
        damping = std::fmax(10 * damping, 1e-8);
        continue;
      }
      double promised = 0, slope = 0;
      for (std::size_t i = 0; i < N; ++i) {
        slope -= step[i] * now.first[i];
        double curvature = 0;
        for (std::size_t j = 0; j < N; ++j)
          curvature += now.second[i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i] * step[j];
        promised -= 0.5 * step[i] * curvature;
      }
      promised += slope;
      if (slope * std::fmax(damping, 1) <= last_bits * now.value + negligible) {
        finish();
        return m;
      }
      const double value = f(moved(step));
      lower = value < now.value;
      if (!lower) {
        if (slope <= 1e-13 * now.value && damping <= 1) {  // only rounding is left
          finish();
          return m;
        }
        damping = std::fmax(4 * damping, 1e-8);
        continue;
      }
      const double kept = (now.value - value) / promised;
      m.at = moved(step);
      if (kept > 0.75) damping = damping < 1e-12 ? 0 : damping * 0.1;
      if (kept < 0.25) damping = std::fmax(4 * damping, 1e-8);
    }
    if (!lower) return m;
    now = f.derivatives(m.at, bound);
  }
  if (std::isfinite(now.value)) m.value = now.value;
  return m;
}

}  // namespace detail

// Finds a minimum of f >= 0 downhill from `from` by Newton's method with exact second derivatives. Steps are damped
// (Levenberg 1944, Marquardt 1963) where f is not convex or a step did not lower f. f(at) returns the value of f.
// f.derivatives(at, bound) returns f with its derivatives, and sets `bound`, the damping matrix, to a curvature no
// less than that of f there. There is no tolerance to choose and the scale of f does not matter: the iteration stops
// when the predicted decrease is below the last bits of f or below `negligible`, or after `iterations` iterations.
template <std::size_t N, class F>
Minimum<N> minimize(const F& f, const std::array<double, N>& from, double negligible = 0,
                    std::size_t iterations = 400) {
  return detail::minimize_from(detail::DifferentiableRef<N>(f), from, negligible, iterations);
}

}  // namespace algoperf
