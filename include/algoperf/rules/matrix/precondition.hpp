#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../backend/products/symmetric_product.hpp"
#include "blocks.hpp"
#include "eigen_root.hpp"
#include "graft.hpp"
#include "precondition_state.hpp"

namespace algoperf {

// Shampoo's direction. Every matrix is split into blocks of at most block x block. For a block's gradient G at step t:
//   L' = beta2 L + (1 - beta2) G G^T,  R' = beta2 R + (1 - beta2) G^T G        (plain sums if beta2 = 1)
//   M' = beta1 M + (1 - beta1) G
//   D = L^ ^(-1 / root) M^ R^ ^(-1 / root);   u' = D |graft(M^)| / (|D| + 1e-16)
// where ^ divides by 1 - beta^t and, for L and R, also adds epsilon times the largest eigenvalue times I. For L and
// R, t counts their updates (one every statistics_frequency steps). Before start_step, u' is graft(M^). Convolution
// kernels are treated as matrices with one row per filter. Accepts matrices only: give other tensors to another rule
// with partition(matrices, shampoo(), otherwise, adamw()).
//
// All roots are computed at start_step. After that, each root is recomputed every root_frequency steps. If staggered,
// the roots are recomputed at different steps, so that no step computes more than 1 / root_frequency of them, rounded
// up; otherwise, all are recomputed at the multiples of root_frequency. If a root fails, it is retried with ten times
// the epsilon, up to `retries` times; if all fail, the previous root is kept (initially I).
// Blocks of equal shape, and roots of equal side, are passed to the backend in batches; a host assigns whole blocks and
// roots to threads.
//
// beta1 in [0, 1); beta3, which replaces beta1 in M^ but not in M', in [0, 1) (negative: beta1; unused if beta1 is 0);
// beta2 in [0, 1]; root > 0 (0: 2 k, k the number of sides with a factor); epsilon > 0; block, frequencies and
// start_step >= 1; retries >= 0.
// Root: EigenRoot or NewtonRoot. Graft: see rules/matrix/graft.hpp.
// Gupta et al. 2018 (arXiv:1802.09568), algorithm 1; Anil et al. 2020 (arXiv:2002.09018); Shi et al. 2023
// (arXiv:2309.06497), algorithm 2. Departs from Shi et al.: epsilon is relative to the largest eigenvalue, as in Anil
// et al., roots are staggered by default, and the small dimensions of a tensor are not merged: a convolution kernel is
// always one row per filter. Departs from AlgoPerf's and Anil's: L and R are bias-corrected, and grafts are taken per
// block.
// Cost per block of m x n: each step 4 m n (m + n) FLOPs, about 3 m n (m + n) on a host (L and R are symmetric); for
// each root, see EigenRoot or NewtonRoot. State, in the scalar: 2 (m^2 + n^2), m n if beta1 > 0, and m n if the graft
// has state; scratch for one block per thread.
template <class Root = EigenRoot, class Graft = GraftAdam>
struct Precondition {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double beta3 = -1;
  double epsilon = 1e-6;
  double root = 0;
  std::size_t block = 1024;
  std::uint64_t statistics_frequency = 1;
  std::uint64_t root_frequency = 20;
  std::uint64_t start_step = 20;
  int retries = 6;
  bool staggered = true;
  Sides sides = Sides::both;
  Root root_method{};
  Graft graft{};

  void check() const {
    constexpr const char* stage = "Precondition: ";
    require(beta1 >= 0 && beta1 < 1, stage, "beta1 is ", beta1, ", expected [0, 1)");
    require(beta2 >= 0 && beta2 <= 1, stage, "beta2 is ", beta2, ", expected [0, 1]");
    require(beta3 < 1, stage, "beta3 is ", beta3, ", expected less than 1");
    require(epsilon > 0 && epsilon <= __DBL_MAX__, stage, "epsilon is ", epsilon, ", expected more than 0 and finite");
    require(root >= 0 && root <= __DBL_MAX__, stage, "root is ", root,
            ", expected more than 0 and finite, or 0 for 2 k");
    require(block >= 1, stage, "block is 0, expected at least 1");
    require(statistics_frequency >= 1, stage, "statistics_frequency is 0, expected at least 1");
    require(root_frequency >= 1, stage, "root_frequency is 0, expected at least 1");
    require(start_step >= 1, stage, "start_step is 0, expected at least 1");
    require(retries >= 0, stage, "retries is ", retries, ", expected at least 0");
    root_method.check(root > 0 ? root : 2);
    graft.check();
  }

  template <class Backend>
  using State = detail::PreconditionState<Backend, Root>;

  template <class Backend>
  State<Backend> state(const Backend& backend, const auto& layout, const auto& region) const {
    const detail::BlockOptions cut{"Precondition", "shampoo()", block, 0, sides};
    return State<Backend>(backend, {layout, region, cut}, beta1 > 0, Graft::slot);
  }

  template <class Backend>
  void transform(const MatrixWork<Backend>& work, State<Backend>& state) const {
    ++state.t;
    const std::size_t slots = state.scratch.size();
    if ((state.t - 1) % statistics_frequency == 0)
      state.batches.run(work.backend, slots, [&](const Backend& one, std::size_t slot, std::size_t i) {
        measure(one, state.blocks.blocks[i], work.u, state, state.scratch[slot]);
      });
    if (state.t >= start_step) refresh_roots(work.backend, state);
    state.batches.run(work.backend, slots, [&](const Backend& one, std::size_t slot, std::size_t i) {
      direct(one, state.blocks.blocks[i], work.u, state, state.scratch[slot]);
    });
  }

 private:
  template <class Backend>
  bool is_due(const State<Backend>& state, std::size_t factor) const {
    return staggered ? state.blocks.is_turn(factor, state.t, root_frequency) : state.t % root_frequency == 0;
  }

  template <class Backend>
  static void gather(const Backend& backend, const detail::MatrixBlock& b, const auto* u, auto* x) {
    using S = typename Backend::Scalar;
    backend.for_each_row(b.rows, b.cols, detail::CopyRows<S>{b.cols, b.stride, b.cols, u + b.offset, x});
  }

  // Updates L and R with a block's gradient.
  template <class Backend, class S>
  void measure(const Backend& backend, const detail::MatrixBlock& b, const S* u, State<Backend>& state,
               typename State<Backend>::Scratch& scratch) const {
    const LinearCombination<S> mix{static_cast<S>(beta2), static_cast<S>(beta2 < 1 ? 1 - beta2 : 1)};
    S *const x = scratch.gradient.data(), *const square = scratch.square.data();
    gather(backend, b, u, x);
    if (b.left != detail::no_factor) {
      symmetric_nt(backend, b.rows, b.cols, x, x, square);
      backend.map(mix, b.rows * b.rows, state.statistic(b.left), static_cast<const S*>(square));
    }
    if (b.right != detail::no_factor) {
      symmetric_tn(backend, b.cols, b.rows, x, x, square);
      backend.map(mix, b.cols * b.cols, state.statistic(b.right), static_cast<const S*>(square));
    }
  }

  template <class Backend>
  void refresh_roots(const Backend& backend, State<Backend>& state) const {
    const std::uint64_t updates = (state.t - 1) / statistics_frequency + 1;
    const double weight = beta2 < 1 ? 1 - math::power(beta2, updates) : 1;
    const auto side = [&](std::size_t i) { return state.blocks.factors[state.due[i]].side; };
    state.due.clear();
    for (std::size_t f = 0; f < state.blocks.factors.size(); ++f)
      if (state.t == start_step || is_due(state, f)) state.due.push_back(f);
    for (std::size_t begin = 0, end = 0; begin < state.due.size(); begin = end) {
      while (end < state.due.size() && side(end) == side(begin)) ++end;
      backend.run_concurrently(
          state.scratch.size(), end - begin, [&](const Backend& one, std::size_t slot, std::size_t i) {
            const std::size_t f = state.due[begin + i];
            const double p = root > 0 ? root : 2.0 * state.blocks.factors[f].order;
            const detail::RootWish wish{.p = p, .weight = weight, .ridge = epsilon, .retries = retries};
            state.refresh(one, root_method, f, wish, state.scratch[slot]);
          });
    }
  }

  // Replaces a block's gradient, in u, by its update.
  template <class Backend, class S>
  void direct(const Backend& backend, const detail::MatrixBlock& b, S* u, State<Backend>& state,
              typename State<Backend>::Scratch& scratch) const {
    const std::size_t n = b.size();
    S *const g = scratch.gradient.data(), *d = scratch.direction.data(), *spare = scratch.spare.data();
    gather(backend, b, u, g);
    backend.copy(n, static_cast<const S*>(g), d);
    if (state.averages_gradients) average(backend, state.t, n, g, state.averages.data() + b.begin, d);
    const bool preconditions = state.t >= start_step;
    double size = 0;
    if (Graft::rescales || !preconditions) {
      S* const slot = Graft::slot == nullptr ? nullptr : state.graft.data() + b.begin;
      graft(backend, state.t, n, static_cast<const S*>(g), static_cast<const S*>(d), slot, spare);
      size = norm(backend, n, spare);
    }
    if (preconditions) {
      precondition(backend, b, d, spare, state);
      if (Graft::rescales) backend.map(Multiply<S>{static_cast<S>(size / (norm(backend, n, d) + 1e-16))}, n, d);
    } else {
      d = spare;
    }
    backend.for_each_row(b.rows, b.cols, detail::CopyRows<S>{b.cols, b.cols, b.stride, d, u + b.offset});
  }

  // Replaces m by the average M', and d, which contains g, by the preconditioner's input M^.
  template <class Backend, class S>
  void average(const Backend& backend, std::uint64_t t, std::size_t n, const S* g, S* m, S* d) const {
    const double beta = beta3 < 0 ? beta1 : beta3, corrected = 1 - beta * math::power(beta1, t - 1);
    backend.map(LinearCombination<S>{static_cast<S>((1 - beta) / corrected), static_cast<S>(beta / corrected)}, n, d,
                static_cast<const S*>(m));
    backend.map(LinearCombination<S>{static_cast<S>(beta1), static_cast<S>(1 - beta1)}, n, m, g);
  }

  // Replaces d by L^(-1 / p) d R^(-1 / p).
  template <class Backend, class S>
  static void precondition(const Backend& backend, const detail::MatrixBlock& b, S*& d, S*& spare,
                           State<Backend>& state) {
    if (b.left != detail::no_factor) {
      backend.gemm_nn(b.rows, b.cols, b.rows, state.root(b.left), d, spare);
      std::swap(d, spare);
    }
    if (b.right != detail::no_factor) {
      backend.gemm_nn(b.rows, b.cols, b.cols, d, state.root(b.right), spare);
      std::swap(d, spare);
    }
  }

  static double norm(const auto& backend, std::size_t n, const auto* x) { return math::sqrt(backend.dot(n, x, x)); }
};

}  // namespace algoperf
