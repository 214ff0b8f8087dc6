// Bounds on the gradients that Adagrad and Adam reach on smooth problems, which need not be convex.
//
// Both take N steps from x_0, in each coordinate, with stochastic gradients g_n of F whose coordinates are at most G in
// absolute value; R = G + sqrt(eps):
//   v_n = beta2 v_(n-1) + g_n^2,   x_n = x_(n-1) - alpha_n g_n / sqrt(eps + v_n)
// Adagrad has beta2 = 1 and alpha_n = alpha; Adam without momentum has beta2 < 1 and
// alpha_n = alpha sqrt((1 - beta2^n) / (1 - beta2)). tau is uniform over 0, ..., N - 1.
// Source: Defossez, Bottou, Bach & Usunier 2022, "A Simple Convergence Proof of Adam and Adagrad" (arXiv:2003.02395),
// theorems 1 and 2. The constants were recalled and not compared with the paper; the tests show problems on which the
// bounds hold.
#pragma once

#include <cmath>
#include <cstdint>

#include "../../core/error.hpp"

namespace algoperf {

// A problem for adagrad_bound and adam_bound.
struct BoundedProblem {
  double gap = 0;             // F(x_0) - inf F
  double smoothness = 0;      // L: the gradient of F is L-Lipschitz in the l2 norm
  double gradient_bound = 0;  // G
  double dimensions = 0;      // d
  double eps = 1e-8;

  double r() const { return gradient_bound + std::sqrt(eps); }
  void check() const {
    require(gap >= 0 && std::isfinite(gap), "BoundedProblem: gap is ", gap, ", expected a finite number of at least 0");
    require_more_than(0, "BoundedProblem", "smoothness", smoothness);
    require_more_than(0, "BoundedProblem", "gradient_bound", gradient_bound);
    require_more_than(0, "BoundedProblem", "dimensions", dimensions);
    require_more_than(0, "BoundedProblem", "eps", eps);
  }
};

namespace detail {

inline void check_bound(const char* bound, double alpha, std::uint64_t steps) {
  require_more_than(0, bound, "alpha", alpha);
  require(steps >= 1, bound, ": steps is 0, expected at least 1");
}

}  // namespace detail

// Returns the bound on E |grad F(x_tau)|^2 of Adagrad:
//   2 R gap / (alpha sqrt(N)) + (4 d R^2 + alpha d R L) ln(1 + N R^2 / eps) / sqrt(N).
// Throws Error if a number is out of range.
inline double adagrad_bound(const BoundedProblem& p, double alpha, std::uint64_t steps) {
  p.check();
  detail::check_bound("adagrad_bound", alpha, steps);
  const double n = static_cast<double>(steps), r = p.r();
  return (2 * r * p.gap / alpha +
          (4 * p.dimensions * r * r + alpha * p.dimensions * r * p.smoothness) * std::log1p(n * r * r / p.eps)) /
         std::sqrt(n);
}

// Returns the bound on E |grad F(x_tau)|^2 of Adam without momentum:
//   2 R gap / (alpha N) + E (ln(1 + R^2 / ((1 - beta2) eps)) / N - ln(beta2)),
//   E = 4 d R^2 / sqrt(1 - beta2) + alpha d R L / (1 - beta2).
// For constant beta2 it does not fall to 0 as N grows; with beta2 = 1 - 1 / N and alpha ~ 1 / sqrt(N), it is
// O(d ln(N) / sqrt(N)). Throws Error if a number is out of range.
inline double adam_bound(const BoundedProblem& p, double alpha, double beta2, std::uint64_t steps) {
  p.check();
  detail::check_bound("adam_bound", alpha, steps);
  require(beta2 > 0 && beta2 < 1, "adam_bound: beta2 is ", beta2, ", expected (0, 1)");
  const double n = static_cast<double>(steps), r = p.r();
  const double e =
      4 * p.dimensions * r * r / std::sqrt(1 - beta2) + alpha * p.dimensions * r * p.smoothness / (1 - beta2);
  return 2 * r * p.gap / (alpha * n) + e * (std::log1p(r * r / ((1 - beta2) * p.eps)) / n - std::log(beta2));
}

}  // namespace algoperf
