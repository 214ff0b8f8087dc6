#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../backend/products/symmetric_product.hpp"
#include "../stages/moments.hpp"
#include "eigenbasis_state.hpp"

namespace algoperf {

// SOAP's direction: Adam in the eigenbases of Shampoo's factors. For a matrix with gradient G, at step t + 1:
//   N = Q_L^T G Q_R;  m' = beta1 m + (1 - beta1) N;  v' = beta2 v + (1 - beta2) N^2
//   u' = c Q_L (m' / (sqrt(v') + eps)) Q_R^T,  c = sqrt(1 - beta2^t) / (1 - beta1^t)
//   L' = s L + (1 - s) G G^T,  R' = s R + (1 - s) G^T G,  s = shampoo_beta
// The first step only computes L and R, and Q_L and Q_R as their eigenvectors; its u' is 0. After that, every
// `frequency` steps, Q_L' = qr(L Q_L) and Q_R' = qr(R Q_R), with columns sorted by their eigenvalues; m is rotated
// and v is permuted accordingly. Convolution kernels are treated as matrices with one row per filter. Accepts
// matrices only: give other tensors to another rule with partition(matrices, soap(), otherwise, adamw()). A side
// longer than largest_side has no factor, and its basis is the identity.
//
// beta1, beta2 in [0, 1); shampoo_beta in [0, 1) (negative: beta2); eps > 0; frequency >= 1; largest_side >= 0 (0: no
// limit). If staggered, the bases are updated at different steps, so that no step updates more than 1 / frequency of
// them, rounded up; otherwise all are updated when t is a multiple of the frequency, as in the authors' code.
// Vyas et al. 2024 (arXiv:2409.11321), algorithm 3, as the authors' soap.py. Departs from it in three ways: bases are
// staggered by default; the stages that follow (decay) also act at the first step; decay is applied with the update,
// not after it. If L or R does not have full rank after the first step, the basis of its null space is arbitrary, and
// results depend on eigh. Needs #include <algoperf/backend/products/linear_algebra.hpp>.
// Cost per matrix of m x n: each step 6 m n (m + n) FLOPs; each basis of side k 4 k^3 + 2 k m n and a QR decomposition,
// on one thread. State, in the scalar: 2 (m^2 + n^2) + 2 m n; scratch for one matrix per thread, because a host assigns
// whole matrices to threads.
struct EigenbasisAdam {
  double beta1 = 0.95;
  double beta2 = 0.95;
  double shampoo_beta = -1;
  double eps = 1e-8;
  std::uint64_t frequency = 10;
  std::size_t largest_side = 10000;
  bool staggered = true;

  void check() const {
    detail::check_moments("EigenbasisAdam", beta1, beta2, eps);
    require(shampoo_beta < 1, "EigenbasisAdam: shampoo_beta is ", shampoo_beta, ", expected less than 1");
    require(frequency >= 1, "EigenbasisAdam: frequency is 0, expected at least 1");
  }

  template <class Backend>
  using State = detail::EigenbasisState<Backend>;

  template <class Backend>
  State<Backend> state(const Backend& backend, const auto& layout, const auto& region) const {
    const detail::BlockOptions whole{"EigenbasisAdam", "soap()", 0, largest_side, Sides::both};
    return State<Backend>(backend, {layout, region, whole});
  }

  template <class Backend>
  void transform(const MatrixWork<Backend>& work, State<Backend>& state) const {
    const std::uint64_t t = state.t++;  // the number of steps before this one
    const auto& blocks = state.blocks.blocks;
    state.batches.run(work.backend, state.scratch.size(), [&](const Backend& one, std::size_t slot, std::size_t i) {
      update(one, blocks[i], t, work.u + blocks[i].offset, state, state.scratch[slot]);
    });
  }

 private:
  // Replaces a matrix's gradient, at g, by its update.
  template <class Backend, class S>
  void update(const Backend& backend, const detail::MatrixBlock& b, std::uint64_t t, S* g, State<Backend>& state,
              typename State<Backend>::Scratch& scratch) const {
    measure(backend, b, g, state, scratch);
    if (t == 0)
      backend.fill(b.size(), g, S(0));
    else
      direct(backend, b, t, g, state, scratch);
    for (const std::size_t factor : {b.left, b.right}) {
      if (factor == detail::no_factor) continue;
      if (t == 0)
        state.start_basis(backend, factor, scratch);
      else if (is_due(state, factor, t))
        state.refresh_basis(backend, b, factor, scratch);
    }
  }

  template <class Backend>
  bool is_due(const State<Backend>& state, std::size_t factor, std::uint64_t t) const {
    return staggered ? state.blocks.is_turn(factor, t, frequency) : t % frequency == 0;
  }

  // Updates L and R with the gradient. The bases that this step uses were computed in earlier steps.
  template <class Backend, class S>
  void measure(const Backend& backend, const detail::MatrixBlock& b, const S* g, State<Backend>& state,
               typename State<Backend>::Scratch& scratch) const {
    const double keep = shampoo_beta < 0 ? beta2 : shampoo_beta;
    const LinearCombination<S> mix{static_cast<S>(keep), static_cast<S>(1 - keep)};
    S* const square = scratch.square.data();
    if (b.left != detail::no_factor) {
      symmetric_nt(backend, b.rows, b.cols, g, g, square);
      backend.map(mix, b.rows * b.rows, state.statistic(b.left), static_cast<const S*>(square));
    }
    if (b.right != detail::no_factor) {
      symmetric_tn(backend, b.cols, b.rows, g, g, square);
      backend.map(mix, b.cols * b.cols, state.statistic(b.right), static_cast<const S*>(square));
    }
  }

  // Replaces g by Adam's update in the eigenbases.
  template <class Backend, class S>
  void direct(const Backend& backend, const detail::MatrixBlock& b, std::uint64_t t, S* g, State<Backend>& state,
              typename State<Backend>::Scratch& scratch) const {
    const std::size_t n = b.size();
    S *x = scratch.gradient.data(), *y = scratch.spare.data();
    S *const m = state.exp_avg.data() + b.begin, *const v = state.exp_avg_sq.data() + b.begin;
    backend.copy(n, static_cast<const S*>(g), x);
    if (b.left != detail::no_factor) {
      backend.gemm_tn(b.rows, b.cols, b.rows, state.basis(b.left), x, y);
      std::swap(x, y);
    }
    if (b.right != detail::no_factor) {
      backend.gemm_nn(b.rows, b.cols, b.cols, x, state.basis(b.right), y);
      std::swap(x, y);
    }
    backend.map(LinearCombination<S>{static_cast<S>(beta1), static_cast<S>(1 - beta1)}, n, m, static_cast<const S*>(x));
    backend.map(detail::SecondMoment<S>{static_cast<S>(beta2), static_cast<S>(1 - beta2)}, n, v,
                static_cast<const S*>(x));
    const double c = math::sqrt(1 - math::power(beta2, t)) / (1 - math::power(beta1, t));
    const auto root = detail::Root<S>::of(EpsAt::uncorrected, eps);
    backend.map(detail::OverRoot<S>{static_cast<S>(c), root}, n, x, static_cast<const S*>(m), static_cast<const S*>(v));
    if (b.left != detail::no_factor) {
      backend.gemm_nn(b.rows, b.cols, b.rows, state.basis(b.left), x, y);
      std::swap(x, y);
    }
    if (b.right != detail::no_factor) {
      backend.gemm_nt(b.rows, b.cols, b.cols, x, state.basis(b.right), y);
      std::swap(x, y);
    }
    backend.copy(n, static_cast<const S*>(x), g);
  }
};

}  // namespace algoperf
