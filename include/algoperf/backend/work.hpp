// Work: what a rule hands to a backend. A chain of stages arrives as passes over regions; backends differ in the order
// they walk them, never in what a pass does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/config.hpp"
#include "../core/tensor_facts.hpp"
#include "ports.hpp"

namespace algoperf {

// How a pass ends: by applying the update, by measuring sums per tensor or over all tensors, or by a matrix stage.
enum class Closing : std::uint8_t { apply, measure_tensor, measure_all, transform };

// Kernels of the stages [first, last), closed by `stage` (unless it applies). Where it does not store u, the next pass
// runs the same kernels again. A `factored` pass finds u with Factors, if the tensor has some.
struct PassShape {
  std::size_t first = 0, last = 0, stage = 0;
  Closing closing = Closing::apply;
  bool stores = false, factored = false;
};

// Consecutive passes [first, last) that a backend may run tensor by tensor; a barrier over all tensors follows.
struct PhaseShape {
  std::size_t first = 0, last = 0;
};

// What a matrix stage may leave of a tensor instead of writing u: u[r][c] min(rows[r] columns[c], most), which the
// passes to come multiply as they read. Nothing where `rows` is null.
template <class S>
struct Factors {
  const S* rows = nullptr;
  const S* columns = nullptr;
  S most = 0;
};

// One tensor of a region: [offset, offset + facts.size) of the region's arenas.
template <class S>
struct TensorWork {
  std::size_t offset = 0;
  TensorFacts facts;
  Factors<S> factors = {};
};

// A region as a backend sees it: u, p and slot j are arrays of `size`, slot j at slots + j * size; u and p begin at
// element `begin` of their arenas.
template <class S>
struct RegionWork {
  std::size_t begin = 0, size = 0;
  S* u = nullptr;
  S* p = nullptr;
  S* slots = nullptr;
  std::vector<TensorWork<S>> tensors;
};

namespace detail {

// Sums are taken in `lanes` fixed lanes within chunks of `chunk` elements, so of chunk / lanes terms each and in the
// scalar of the data; then the lanes are added by a fixed tree and the chunks in order, in double. Neither the vector
// width, the number of threads nor the backend changes the order.
inline constexpr std::size_t lanes = 16;
inline constexpr std::size_t chunk = 8192;

template <class S>
ALGOPERF_HD S tree_sum(S (&lane)[lanes]) {
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j) lane[j] += lane[j + half];
  return lane[0];
}

inline constexpr std::size_t chunks_of(std::size_t n) { return (n + chunk - 1) / chunk; }

// Where a sweep's data lies: element i of u, of p, and of slot j at slots + j * stride; or, with ports, u where they
// say.
template <class S, class Ports = NoPorts>
struct Sweep {
  S* u;
  S* p;
  S* slots;
  std::size_t stride;
  [[no_unique_address]] Ports ports = {};
};

// What a sweep does with u when the kernel has run.
enum class Then { apply, store, discard };

ALGOPERF_HD constexpr Then then_of(const PassShape& pass) {
  if (pass.closing == Closing::apply) return Then::apply;
  return pass.stores ? Then::store : Then::discard;
}
// A pass with nothing to run, to measure or to store: a matrix stage at the head of a chain.
constexpr bool is_idle(const PassShape& pass) {
  return pass.closing == Closing::transform && pass.first == pass.last && !pass.stores;
}

}  // namespace detail
}  // namespace algoperf
