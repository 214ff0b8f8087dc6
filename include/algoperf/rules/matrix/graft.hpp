// Grafts. Per block, the preconditioned direction is rescaled to the norm of the direction of another rule, the graft
// (Agarwal et al. 2020, "Disentangling adaptive gradient methods from learning rates", arXiv:2002.11803). A graft has
//
//   static constexpr bool rescales;           whether directions are rescaled (false for NoGraft only)
//   static constexpr const char* slot;        the name of its one slot in checkpoints; null if it has no state
//   void check() const;
//   template <class Backend, class S>         out = its direction, from gradient g, preconditioner input m and slot v
//   void operator()(backend, t, n, const S* g, const S* m, S* v, S* out) const;
//
// Before preconditioning starts, the graft's direction is the update. m differs from g if Precondition averages
// gradients (beta1 > 0).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels.hpp"

namespace algoperf {

namespace detail {

// v' = keep v + rest g^2;  out = m / root(v') * scale
template <class Backend, class S>
void divide_by_root(const Backend& backend, std::size_t n, double keep, double rest, double eps, double scale,
                    const S* g, const S* m, S* v, S* out) {
  backend.map(SecondMoment<S>{static_cast<S>(keep), static_cast<S>(rest)}, n, v, g);
  backend.map(OverRoot<S>{static_cast<S>(scale), Root<S>::of(EpsAt::outside, eps, scale)}, n, out, m,
              static_cast<const S*>(v));
}

inline void check_graft(const char* name, double beta2, double eps) {
  require(beta2 >= 0 && beta2 < 1, name, ": beta2 is ", beta2, ", expected [0, 1)");
  check_eps(name, eps);
}

}  // namespace detail

// The direction of SGD: m itself.
struct GraftSgd {
  static constexpr bool rescales = true;
  static constexpr const char* slot = nullptr;
  void check() const {}
  template <class Backend, class S>
  void operator()(const Backend& backend, std::uint64_t, std::size_t n, const S*, const S* m, S*, S* out) const {
    backend.copy(n, m, out);
  }
};

// Leaves the norm of preconditioned directions as it is.
struct NoGraft : GraftSgd {
  static constexpr bool rescales = false;
};

// v' = v + g^2;  m / (sqrt(v') + eps). eps > 0.
struct GraftAdagrad {
  double eps = 1e-8;
  static constexpr bool rescales = true;
  static constexpr const char* slot = "graft_sum";
  void check() const { detail::check_eps("GraftAdagrad", eps); }
  template <class Backend, class S>
  void operator()(const Backend& backend, std::uint64_t, std::size_t n, const S* g, const S* m, S* v, S* out) const {
    detail::divide_by_root(backend, n, 1, 1, eps, 1, g, m, v, out);
  }
};

// v' = beta2 v + (1 - beta2) g^2;  m / (sqrt(v') + eps). beta2 in [0, 1), eps > 0.
struct GraftRmsProp {
  double beta2 = 0.999;
  double eps = 1e-8;
  static constexpr bool rescales = true;
  static constexpr const char* slot = "graft_square_avg";
  void check() const { detail::check_graft("GraftRmsProp", beta2, eps); }
  template <class Backend, class S>
  void operator()(const Backend& backend, std::uint64_t, std::size_t n, const S* g, const S* m, S* v, S* out) const {
    detail::divide_by_root(backend, n, beta2, 1 - beta2, eps, 1, g, m, v, out);
  }
};

// As GraftRmsProp, with v' / (1 - beta2^t) in place of v'; with Precondition's beta1 this is Adam. beta2 in [0, 1),
// eps > 0.
struct GraftAdam {
  double beta2 = 0.999;
  double eps = 1e-8;
  static constexpr bool rescales = true;
  static constexpr const char* slot = "graft_exp_avg_sq";
  void check() const { detail::check_graft("GraftAdam", beta2, eps); }
  template <class Backend, class S>
  void operator()(const Backend& backend, std::uint64_t t, std::size_t n, const S* g, const S* m, S* v, S* out) const {
    const double c = math::sqrt(1 - math::power(beta2, t));
    detail::divide_by_root(backend, n, beta2, 1 - beta2, eps, c, g, m, v, out);
  }
};

// As GraftRmsProp, with g / |g| and m / |m| in place of g and m. Norms are taken over the block. AlgoPerf's Shampoo
// takes them over the tensor, and does not average gradients, so m = g there. beta2 in [0, 1), eps > 0.
struct GraftRmsPropNormalized {
  double beta2 = 0.999;
  double eps = 1e-8;
  static constexpr bool rescales = true;
  static constexpr const char* slot = "graft_square_avg";
  void check() const { detail::check_graft("GraftRmsPropNormalized", beta2, eps); }
  template <class Backend, class S>
  void operator()(const Backend& backend, std::uint64_t, std::size_t n, const S* g, const S* m, S* v, S* out) const {
    const double of_g = inverse_norm(backend, n, g), of_m = inverse_norm(backend, n, m);
    backend.map(detail::SecondMoment<S>{static_cast<S>(beta2), static_cast<S>((1 - beta2) * of_g * of_g)}, n, v, g);
    const auto root = detail::Root<S>::of(EpsAt::outside, eps);
    backend.map(detail::OverRoot<S>{static_cast<S>(of_m), root}, n, out, m, static_cast<const S*>(v));
  }

 private:
  static double inverse_norm(const auto& backend, std::size_t n, const auto* x) {
    const double norm = math::sqrt(backend.dot(n, x, x));
    return norm > 0 ? 1 / norm : 0;
  }
};

}  // namespace algoperf
