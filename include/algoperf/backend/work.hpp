// Work: the description of a rule's step that a backend executes. A chain of stages is represented as passes over
// regions. Backends may visit regions and tensors in different orders, but a pass computes the same function on every
// backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/config.hpp"
#include "../core/tensor_facts.hpp"
#include "ports.hpp"

namespace algoperf {

// The end of a pass: it applies the update, measures sums per tensor or over all tensors, or runs a matrix stage.
enum class Closing : std::uint8_t { apply, measure_tensor, measure_all, transform };

// A pass: the kernels of stages [first, last), followed by `stage` (unless the pass applies the update). If the pass
// does not store u, the next pass runs the same kernels again. A `factored` pass reads u through Factors where the
// tensor has them.
struct PassShape {
  std::size_t first = 0, last = 0, stage = 0;
  Closing closing = Closing::apply;
  bool stores = false, factored = false;
};

// Consecutive passes [first, last) that a backend may run tensor by tensor; a barrier over all tensors follows.
struct PhaseShape {
  std::size_t first = 0, last = 0;
};

// Factors that a matrix stage may leave instead of writing u. Later passes compute u[r][c] min(rows[r] columns[c],
// most) as they read. There are no factors if `rows` is null.
template <class S>
struct Factors {
  const S* rows = nullptr;
  const S* columns = nullptr;
  S most = 0;
};

// One tensor of a region: elements [offset, offset + facts.size) of the region's arenas.
template <class S>
struct TensorWork {
  std::size_t offset = 0;
  TensorFacts facts;
  Factors<S> factors = {};
};

// A region as passed to a backend. u, p and each slot are arrays of `size` elements; slot j begins at slots + j *
// size. u and p begin at element `begin` of their arenas.
template <class S>
struct RegionWork {
  std::size_t begin = 0, size = 0;
  S* u = nullptr;
  S* p = nullptr;
  S* slots = nullptr;
  std::vector<TensorWork<S>> tensors;
};

namespace detail {

// The summation order of Host and Thrust; Cuda sums the same chunks, but adds in its own fixed order. Within a chunk
// of `chunk` elements, `lanes` fixed lanes each add chunk / lanes terms in the scalar type of the data. A fixed tree
// then adds the lanes, and the chunks are added in order; both in double. The order does not depend on the vector
// width or the number of threads.
inline constexpr std::size_t lanes = 16;
inline constexpr std::size_t chunk = 8192;

// Combines n numbers, a power of two: each number of the first half with one of the second, then the results likewise.
// The loops have constant lengths, so compilers use vectors.
template <std::size_t n, class S, class Combine>
ALGOPERF_HD S fold_halves(const S* x, const Combine& combine) {
  if constexpr (n == 1) {
    return x[0];
  } else {
    S half[n / 2];
    for (std::size_t j = 0; j < n / 2; ++j) half[j] = combine(x[j], x[j + n / 2]);
    return fold_halves<n / 2>(half, combine);
  }
}

struct Plus {
  template <class S>
  ALGOPERF_HD S operator()(S a, S b) const {
    return a + b;
  }
};
struct Larger {
  template <class S>
  ALGOPERF_HD S operator()(S a, S b) const {
    return b > a ? b : a;
  }
};

template <class S>
ALGOPERF_HD S tree_sum(const S (&lane)[lanes]) {
  return fold_halves<lanes>(lane, Plus{});
}

inline constexpr std::size_t chunks_of(std::size_t n) { return (n + chunk - 1) / chunk; }

// The data of a sweep: arrays u and p, and slot j at slots + j * stride. With ports, u is read through the ports
// instead.
template <class S, class Ports = NoPorts>
struct Sweep {
  S* u;
  S* p;
  S* slots;
  std::size_t stride;
  Ports ports = {};  // without [[no_unique_address]], which nvcc 13 lays out differently in device code
};

// What a sweep does with u after the kernel.
enum class Then { apply, store, discard };

ALGOPERF_HD constexpr Then then_of(const PassShape& pass) {
  if (pass.closing == Closing::apply) return Then::apply;
  return pass.stores ? Then::store : Then::discard;
}
// Whether a pass has nothing to run, measure or store, such as that of a matrix stage at the beginning of a chain.
constexpr bool is_idle(const PassShape& pass) {
  return pass.closing == Closing::transform && pass.first == pass.last && !pass.stores;
}

}  // namespace detail
}  // namespace algoperf
