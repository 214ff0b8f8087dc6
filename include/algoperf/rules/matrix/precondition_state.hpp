// The state of Precondition for a region: its factors and their roots, averages of the gradient, the graft's slot.
#pragma once

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

// A root to compute: (statistic / weight)^(-1 / p), with a ridge added to the statistic. Each retry multiplies the
// ridge by ten.
struct RootWish {
  double p, weight, ridge;
  int retries;
};

template <class Backend, class Method>
struct PreconditionState {
  using S = typename Backend::Scalar;
  using Array = typename Backend::template Array<S>;

  // Scratch for one block.
  struct Scratch {
    Array gradient, direction, spare, square;
    typename Method::template Scratch<Backend> root;
  };

  Blocks blocks;
  Batches batches;                      // of blocks
  std::uint64_t t = 0;                  // steps taken
  std::vector<std::uint64_t> failures;  // per factor: roots that failed with all retries
  Array statistics, roots;              // in the order of the factors
  Array averages, graft;                // in the order of the blocks, packed; empty if not needed
  std::vector<Scratch> scratch;         // one per slot of the backend's batches
  std::vector<std::size_t> due;         // factors whose roots are due at this step
  bool averages_gradients = false;
  const char* graft_name = nullptr;

  PreconditionState(const Backend& backend, Blocks cut, bool averaging, const char* graft_slot)
      : blocks(std::move(cut)),
        batches(blocks.batches()),
        failures(blocks.factors.size()),
        statistics(backend.template array<S>(blocks.squares)),
        roots(backend.template array<S>(blocks.squares)),
        averages(backend.template array<S>(averaging ? blocks.elements : 0)),
        graft(backend.template array<S>(graft_slot != nullptr ? blocks.elements : 0)),
        averages_gradients(averaging),
        graft_name(graft_slot) {
    const std::size_t n = blocks.largest_block, side = blocks.largest_side;
    const std::size_t slots = math::max(batches.concurrency(backend), blocks.factor_batches().concurrency(backend));
    for (std::size_t i = 0; i < slots; ++i)
      scratch.push_back({backend.template array<S>(n),
                         backend.template array<S>(n),
                         backend.template array<S>(n),
                         backend.template array<S>(side * side),
                         {backend, side}});
    due.reserve(blocks.factors.size());
    for (const Factor& factor : blocks.factors) set_identity(backend, factor.side, roots.data() + factor.begin);
  }

  S* statistic(std::size_t factor) { return statistics.data() + blocks.factors[factor].begin; }
  S* root(std::size_t factor) { return roots.data() + blocks.factors[factor].begin; }

  // Recomputes a factor's root. If that fails, keeps the previous root and counts a failure.
  void refresh(const Backend& backend, const Method& method, std::size_t factor, const RootWish& wish, Scratch& s) {
    if (!compute(backend, method, factor, wish, s)) ++failures[factor];
  }

  template <class Archive>
  void visit(Archive& archive, const Backend& backend, const auto&, const auto&, std::size_t i) {
    archive.number("t", t);
    blocks.visit(archive, i, [&](const MatrixBlock& block) {
      visit_factor(archive, backend, "left", block.left);
      visit_factor(archive, backend, "right", block.right);
      if (averages_gradients) archive.array("exp_avg", backend, averages.data() + block.begin, block.size());
      if (graft_name != nullptr) archive.array(graft_name, backend, graft.data() + block.begin, block.size());
    });
  }

 private:
  bool compute(const Backend& backend, const Method& method, std::size_t factor, const RootWish& wish, Scratch& s) {
    const std::size_t n = blocks.factors[factor].side;
    const S* const a = statistic(factor);
    S* const out = s.square.data();
    if (!method.prepare(backend, n, a, s.root)) return false;
    double ridge = wish.ridge;
    for (int retry = 0; !attempt(backend, method, n, a, wish.p, ridge, out, s); ++retry, ridge *= 10)
      if (retry == wish.retries) return false;
    // (a / weight)^(-1 / p) = weight^(1 / p) a^(-1 / p) for every ridge, since the ridge is relative to `a`.
    backend.map(Multiply<S>{static_cast<S>(std::pow(wish.weight, 1 / wish.p))}, n * n, out);
    backend.copy(n * n, static_cast<const S*>(out), root(factor));
    return true;
  }
  static bool attempt(const Backend& backend, const Method& method, std::size_t n, const S* a, double p, double ridge,
                      S* out, Scratch& s) {
    return method.attempt(backend, n, a, p, ridge, out, s.root) &&
           std::isfinite(backend.sum(n * n, static_cast<const S*>(out)));
  }

  template <class Archive>
  void visit_factor(Archive& archive, const Backend& backend, const char* name, std::size_t factor) {
    if (factor == no_factor) return;
    const std::size_t n = blocks.factors[factor].side;
    const ArchiveScope scope(archive, name);
    archive.array("statistic", backend, statistic(factor), n * n);
    archive.array("root", backend, root(factor), n * n);
    archive.number("roots_failed", failures[factor]);
  }
};

}  // namespace algoperf::detail
