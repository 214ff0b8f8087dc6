#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

#include "../../backend/products/symmetric_product.hpp"
#include "kernels.hpp"
#include "power_iteration.hpp"
#include "rows.hpp"

namespace algoperf {

// Inverse roots by the coupled Newton iteration. It needs only matrix products, so it runs on every backend. For
// C = A + ridge max(w) I, where power iteration computes max(w), the largest eigenvalue of A, and p is an integer:
//   X = z^(1 / p) I,  M = z C,  z = (p + 1) / (2 |C|_F);  then  T = ((p + 1) I - M) / p,  X' = X T,  M' = T^p M
// until |M - I|_F is at most `tolerance` or stops decreasing. The result is X T, which approximates C^(-1 / p). The
// root fails if |M - I|_F is then above `acceptable`.
// max_iterations >= 1, tolerance >= 0, acceptable > 0. Guo & Higham 2006; Anil et al. 2020 (arXiv:2002.09018),
// appendix; Shi et al. 2023, algorithm 3. Departs from them in two ways. The final product X T squares the error at the
// cost of one product. The error is measured by the Frobenius norm instead of the largest element, which in a large
// matrix can stay small although an eigenvalue has not converged. Computes in the backend's scalar. In float, use a
// ridge of 1e-6 or more; even then EigenRoot is more accurate.
// Cost: 15 to 40 iterations of 3 (p = 2), 4 (p = 4) or 5 (p = 6, 8) products of 2 n^3 FLOPs, all symmetric, so that a
// host computes about half of each; five n x n matrices of scratch. On a host this takes three times as long as
// EigenRoot; it is faster than EigenRoot on devices where only products are fast.
struct NewtonRoot {
  int max_iterations = 100;
  double tolerance = 1e-6;
  double acceptable = 0.1;

  void check(double p) const {
    require(max_iterations >= 1, "NewtonRoot: max_iterations is ", max_iterations, ", expected at least 1");
    require_at_least(0, "NewtonRoot", "tolerance", tolerance);
    require_more_than(0, "NewtonRoot", "acceptable", acceptable);
    require(p == std::floor(p), "NewtonRoot: the root is ", p, ", expected a whole number: use EigenRoot");
  }

  template <class Backend>
  struct Scratch {
    using S = typename Backend::Scalar;
    detail::PowerIteration<Backend> largest;
    typename Backend::template Array<S> buffers[5];
    double eigenvalue = 0;  // the largest eigenvalue of `a`

    Scratch() = default;
    Scratch(const Backend& backend, std::size_t n) : largest(backend, n) {
      for (auto& buffer : buffers) buffer = backend.template array<S>(n * n);
    }
  };

  // Computes the part of the root of `a` that does not depend on the ridge. Returns false if `a` is zero or not finite.
  template <class Backend, class S>
  bool prepare(const Backend& backend, std::size_t n, const S* a, Scratch<Backend>& s) const {
    s.eigenvalue = s.largest(backend, n, a);
    return s.eigenvalue > 0 && std::isfinite(s.eigenvalue);
  }

  // Writes the root to `root`. Returns false if the iteration does not converge.
  template <class Backend, class S>
  bool attempt(const Backend& backend, std::size_t n, const S* a, double p, double ridge, S* root,
               Scratch<Backend>& s) const {
    S *x = s.buffers[0].data(), *m = s.buffers[1].data(), *t = s.buffers[2].data();
    S *power = s.buffers[3].data(), *spare = s.buffers[4].data();
    backend.copy(n * n, a, m);
    backend.for_each_row(n, 1, detail::AddToDiagonal<S>{n, static_cast<S>(ridge * s.eigenvalue), m});
    const double z = (p + 1) / (2 * norm(backend, n, m));
    backend.map(Multiply<S>{static_cast<S>(z)}, n * n, m);
    backend.fill(n * n, x, S(0));
    backend.for_each_row(n, 1, detail::AddToDiagonal<S>{n, static_cast<S>(std::pow(z, 1 / p)), x});
    const double diverged = 2 * (p + 1) * std::sqrt(static_cast<double>(n));
    double distance = distance_to_identity(backend, n, m, t);
    for (int i = 0; i < max_iterations && distance > tolerance; ++i) {
      make_step(backend, n, p, m, t);
      symmetric_nn(backend, n, x, t, spare);
      std::swap(x, spare);
      raise(backend, n, static_cast<unsigned>(p), t, power, spare);
      symmetric_nn(backend, n, power, m, spare);
      std::swap(m, spare);
      const double before = std::exchange(distance, distance_to_identity(backend, n, m, t));
      // Far from I the distance may fluctuate. Near I each iteration squares it, until rounding errors dominate.
      if (!(distance < diverged) || (before < 1e-2 && distance > 0.5 * before)) break;
    }
    if (!(distance <= acceptable)) return false;
    make_step(backend, n, p, m, t);
    symmetric_nn(backend, n, x, t, root);
    return true;
  }

 private:
  // t = ((p + 1) I - m) / p
  template <class Backend, class S>
  static void make_step(const Backend& backend, std::size_t n, double p, const S* m, S* t) {
    backend.copy(n * n, m, t);
    backend.map(Multiply<S>{static_cast<S>(-1 / p)}, n * n, t);
    backend.for_each_row(n, 1, detail::AddToDiagonal<S>{n, static_cast<S>((p + 1) / p), t});
  }

  // power = t^p by repeated squaring, from the second-highest bit of p down.
  template <class Backend, class S>
  static void raise(const Backend& backend, std::size_t n, unsigned p, const S* t, S*& power, S*& spare) {
    unsigned bit = 1;
    while (bit <= p / 2) bit *= 2;
    backend.copy(n * n, t, power);
    for (bit /= 2; bit > 0; bit /= 2) {
      symmetric_nn(backend, n, power, power, spare);
      std::swap(power, spare);
      if ((p & bit) == 0) continue;
      symmetric_nn(backend, n, power, t, spare);
      std::swap(power, spare);
    }
  }

  // |m - I|; t is scratch.
  template <class Backend, class S>
  static double distance_to_identity(const Backend& backend, std::size_t n, const S* m, S* t) {
    backend.copy(n * n, m, t);
    backend.for_each_row(n, 1, detail::AddToDiagonal<S>{n, -1, t});
    return norm(backend, n, t);
  }
  template <class Backend, class S>
  static double norm(const Backend& backend, std::size_t n, const S* x) {
    return std::sqrt(backend.dot(n * n, x, x));
  }
};

}  // namespace algoperf
