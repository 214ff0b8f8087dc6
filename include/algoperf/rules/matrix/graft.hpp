// Grafts: the rule whose update lends its size to a preconditioned direction, block by block (Agarwal et al. 2020,
// "Disentangling adaptive gradient methods from learning rates", arXiv:2002.11803). A graft is
//
//   static constexpr bool rescales;           whether it lends its size (NoGraft does not)
//   static constexpr const char* slot;        what its one slot is called in checkpoints; null where it keeps nothing
//   void check() const;
//   template <class Backend, class S>         out = its direction, from the gradient g, what is preconditioned m, and v
//   void operator()(backend, t, n, const S* g, const S* m, S* v, S* out) const;
//
// Its direction is also the update before preconditioning starts. g and m differ where Precondition averages (beta1).
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

// The size of m itself: SGD's.
struct GraftSgd {
  static constexpr bool rescales = true;
  static constexpr const char* slot = nullptr;
  void check() const {}
  template <class Backend, class S>
  void operator()(const Backend& backend, std::uint64_t, std::size_t n, const S*, const S* m, S*, S* out) const {
    backend.copy(n, m, out);
  }
};

// Preconditioned directions keep their own size.
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

// As GraftRmsProp with v' / (1 - beta2^t) for v'; with Precondition's beta1, Adam. beta2 in [0, 1), eps > 0.
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

// As GraftRmsProp with g / |g| and m / |m| for g and m, norms over the block (AlgoPerf's Shampoo: over the tensor, and
// without averages, so that m = g).
// beta2 in [0, 1), eps > 0.
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
