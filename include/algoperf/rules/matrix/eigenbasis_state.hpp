// The state of EigenbasisAdam for a region: factors, their eigenbases, and Adam's averages in these bases.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../state/archive.hpp"
#include "blocks.hpp"
#include "kernels.hpp"
#include "rows.hpp"

namespace algoperf::detail {

template <class Backend>
struct EigenbasisState {
  using S = typename Backend::Scalar;
  using Array = typename Backend::template Array<S>;

  // Scratch for one matrix.
  struct Scratch {
    Array gradient, spare;
    Array square, product, values;  // for one factor
    typename Backend::template Array<std::int32_t> order;
    std::vector<S> host;
    std::vector<std::int32_t> host_order;

    Scratch(const Backend& backend, std::size_t size, std::size_t side)
        : gradient(backend.template array<S>(size)),
          spare(backend.template array<S>(size)),
          square(backend.template array<S>(side * side)),
          product(backend.template array<S>(side * side)),
          values(backend.template array<S>(side)),
          order(backend.template array<std::int32_t>(side)),
          host(side),
          host_order(side) {}
  };

  Blocks blocks;                 // one per matrix
  Batches batches;               // of matrices
  std::uint64_t t = 0;           // steps taken
  Array statistics, bases;       // in the order of the factors
  Array exp_avg, exp_avg_sq;     // in the order of the matrices, packed
  std::vector<Scratch> scratch;  // one per slot of the backend's batches

  EigenbasisState(const Backend& backend, Blocks matrices)
      : blocks(std::move(matrices)),
        batches(blocks.batches()),
        statistics(backend.template array<S>(blocks.squares)),
        bases(backend.template array<S>(blocks.squares)),
        exp_avg(backend.template array<S>(blocks.elements)),
        exp_avg_sq(backend.template array<S>(blocks.elements)) {
    for (std::size_t i = 0; i < batches.concurrency(backend); ++i)
      scratch.emplace_back(backend, blocks.largest_block, blocks.largest_side);
    for (std::size_t f = 0; f < blocks.factors.size(); ++f) set_identity(backend, side(f), basis(f));
  }

  std::size_t side(std::size_t factor) const { return blocks.factors[factor].side; }
  S* statistic(std::size_t factor) { return statistics.data() + blocks.factors[factor].begin; }
  S* basis(std::size_t factor) { return bases.data() + blocks.factors[factor].begin; }

  // Sets a factor's basis to its eigenvectors, the largest eigenvalue first. Keeps the basis if eigh fails.
  void start_basis(const Backend& backend, std::size_t factor, Scratch& s) {
    const std::size_t n = side(factor);
    if (!backend.eigh(n, statistic(factor), s.values.data(), s.square.data())) return;
    for (std::size_t i = 0; i < n; ++i) s.host_order[i] = static_cast<std::int32_t>(n - 1 - i);
    backend.write(n, static_cast<const std::int32_t*>(s.host_order.data()), s.order.data());
    backend.for_each_row(n, n, PermuteColumns<S>{n, s.order.data(), s.square.data(), basis(factor)});
  }

  // One power iteration and a QR decomposition: Q' = qr(A Q), after sorting the columns by the diagonal of Q^T A Q.
  // Also converts the averages of the factor's matrix to the new basis: exp_avg is rotated, exp_avg_sq is permuted.
  void refresh_basis(const Backend& backend, const MatrixBlock& block, std::size_t factor, Scratch& s) {
    const std::size_t n = side(factor);
    S *const q = basis(factor), *const aq = s.product.data();
    backend.gemm_nn(n, n, n, statistic(factor), q, aq);
    if (!sort(backend, n, q, aq, s)) return;
    S* const sorted = s.square.data();
    backend.for_each_row(n, n, PermuteColumns<S>{n, s.order.data(), aq, sorted});
    backend.qr(n, sorted, aq);
    S* const turn = s.square.data();  // Q'^T Q
    backend.gemm_tn(n, n, n, aq, q, turn);
    backend.copy(n * n, static_cast<const S*>(aq), q);
    S *const m = exp_avg.data() + block.begin, *const v = exp_avg_sq.data() + block.begin, *const x = s.spare.data();
    if (factor == block.left) {
      backend.gemm_nn(n, block.cols, n, turn, m, x);
      backend.copy(block.size(), static_cast<const S*>(x), m);
      backend.for_each_row(n, block.cols, PermuteRows<S>{block.cols, s.order.data(), v, x});
    } else {
      backend.gemm_nt(block.rows, n, n, m, turn, x);
      backend.copy(block.size(), static_cast<const S*>(x), m);
      backend.for_each_row(block.rows, n, PermuteColumns<S>{n, s.order.data(), v, x});
    }
    backend.copy(block.size(), static_cast<const S*>(x), v);
  }

  template <class Archive>
  void visit(Archive& archive, const Backend& backend, const auto&, const auto&, std::size_t i) {
    archive.number("t", t);
    blocks.visit(archive, i, [&](const MatrixBlock& block) {
      visit_factor(archive, backend, "left", block.left);
      visit_factor(archive, backend, "right", block.right);
      archive.array("exp_avg", backend, exp_avg.data() + block.begin, block.size());
      archive.array("exp_avg_sq", backend, exp_avg_sq.data() + block.begin, block.size());
    });
  }

 private:
  // Writes to `order` the columns of Q, sorted by the estimates q_j^T (A Q)_j of their eigenvalues, the largest first.
  // Returns false if an estimate is not finite.
  static bool sort(const Backend& backend, std::size_t n, const S* q, const S* aq, Scratch& s) {
    backend.copy(n * n, aq, s.square.data());
    backend.map(MultiplyBy{}, n * n, s.square.data(), q);
    backend.column_sums(n, n, s.square.data(), s.values.data());
    backend.read(n, static_cast<const S*>(s.values.data()), s.host.data());
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(s.host[i])) return false;
      s.host_order[i] = static_cast<std::int32_t>(i);
    }
    std::stable_sort(s.host_order.begin(), s.host_order.begin() + static_cast<std::ptrdiff_t>(n),
                     [&s](std::int32_t a, std::int32_t b) {
                       return s.host[static_cast<std::size_t>(a)] > s.host[static_cast<std::size_t>(b)];
                     });
    backend.write(n, static_cast<const std::int32_t*>(s.host_order.data()), s.order.data());
    return true;
  }

  template <class Archive>
  void visit_factor(Archive& archive, const Backend& backend, const char* name, std::size_t factor) {
    if (factor == no_factor) return;
    const ArchiveScope scope(archive, name);
    archive.array("statistic", backend, statistic(factor), side(factor) * side(factor));
    archive.array("basis", backend, basis(factor), side(factor) * side(factor));
  }
};

}  // namespace algoperf::detail
