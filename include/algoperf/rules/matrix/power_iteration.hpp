#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "../../core/map_kernels.hpp"

namespace algoperf::detail {

// The largest eigenvalue of a symmetric positive semidefinite matrix, approached from below: v' = A v / |A v|, at most
// 100 times, until the relative change of |A v| is less than 1e-6. 2 n^2 FLOPs per iteration.
template <class Backend>
class PowerIteration {
 public:
  using S = typename Backend::Scalar;

  PowerIteration() = default;
  PowerIteration(const Backend& backend, std::size_t n)
      : v_(backend.template array<S>(n)), w_(backend.template array<S>(n)), start_(n) {
    // The fractional parts of multiples of the golden ratio, minus 1/2. An eigenvector orthogonal to this start vector
    // does not occur unless constructed on purpose.
    for (std::size_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(i + 1) * 0.6180339887498949;
      start_[i] = static_cast<S>(x - std::floor(x) - 0.5);
    }
  }

  // Returns the eigenvalue. It is not finite if A is not.
  double operator()(const Backend& backend, std::size_t n, const S* a) {
    S *v = v_.data(), *w = w_.data();
    backend.write(n, static_cast<const S*>(start_.data()), v);
    double size = norm(backend, n, v), before = 0;
    for (int i = 0; i < 100 && size > 0 && std::isfinite(size); ++i) {
      backend.map(Multiply<S>{static_cast<S>(1 / size)}, n, v);
      backend.gemm_nn(n, 1, n, a, v, w);
      S* const next = w;
      w = v;
      v = next;
      size = norm(backend, n, v);
      if (std::fabs(size - before) < 1e-6 * size) break;
      before = size;
    }
    return size;
  }

 private:
  static double norm(const Backend& backend, std::size_t n, const S* x) { return std::sqrt(backend.dot(n, x, x)); }

  typename Backend::template Array<S> v_, w_;
  std::vector<S> start_;
};

}  // namespace algoperf::detail
