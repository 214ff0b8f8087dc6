#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "../../backend/products/symmetric_product.hpp"
#include "../concept.hpp"
#include "kernels.hpp"

namespace algoperf {

// Inverse roots by eigendecomposition, in double (needs #include <algoperf/backend/products/linear_algebra.hpp>):
//   A = V diag(w) V^T;  (A + ridge max(w) I)^(-1 / p) = B B^T,  B = V diag((w + ridge max(w))^(-1 / (2 p)))
// for any p > 0. Exact up to rounding: if R is the root and c the condition number of A with its ridge, R^p A differs
// from I by about c times the scalar's epsilon.
// Shi et al. 2023 (arXiv:2309.06497), section 3.2.1. Cost: about 10 n^3 FLOPs on one thread, and a symmetric
// product.
struct EigenRoot {
  void check(double) const {}

  template <class Backend>
  struct Scratch {
    using S = typename Backend::Scalar;
    typename Backend::template Array<S> vectors, values, scaled;
    std::vector<S> host, powers;  // the eigenvalues, and their powers

    Scratch() = default;
    Scratch(const Backend& backend, std::size_t n)
        : vectors(backend.template array<S>(n * n)),
          values(backend.template array<S>(n)),
          scaled(backend.template array<S>(n * n)),
          host(n),
          powers(n) {}
  };

  // Computes the part of the root of `a` that does not depend on the ridge. Returns false if `a` is zero or not finite.
  template <class Backend, class S>
  bool prepare(const Backend& backend, std::size_t n, const S* a, Scratch<Backend>& s) const {
    if (!backend.eigh(n, a, s.values.data(), s.vectors.data())) return false;
    backend.read(n, static_cast<const S*>(s.values.data()), s.host.data());
    return s.host[n - 1] > 0;
  }

  // Writes the root to `root`. Returns false if `a` with the ridge is not positive definite.
  template <class Backend, class S>
  bool attempt(const Backend& backend, std::size_t n, const S*, double p, double ridge, S* root,
               Scratch<Backend>& s) const {
    const double shift = ridge * static_cast<double>(s.host[n - 1]);
    for (std::size_t i = 0; i < n; ++i) {
      const double power = std::pow(static_cast<double>(s.host[i]) + shift, -0.5 / p);
      s.powers[i] = static_cast<S>(power);
      if (!(power > 0 && std::isfinite(power))) return false;
    }
    backend.write(n, static_cast<const S*>(s.powers.data()), s.values.data());
    backend.copy(n * n, static_cast<const S*>(s.vectors.data()), s.scaled.data());
    backend.map_rows(MultiplyBy{}, n, n, s.scaled.data(), static_cast<const S*>(s.values.data()));
    symmetric_nt(backend, n, n, s.scaled.data(), s.scaled.data(), root);
    return true;
  }
};

}  // namespace algoperf
