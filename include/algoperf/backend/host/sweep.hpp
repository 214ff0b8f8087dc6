// The host's inner loops over one array. Kernels run on native SIMD vectors; sums use 16 fixed lanes.
#pragma once

#include <cstddef>

#include "../../core/slots.hpp"
#include "../../core/tuple.hpp"
#include "../work.hpp"
#include "denormals.hpp"
#include "vector.hpp"

namespace algoperf::detail {
inline namespace ALGOPERF_SIMD {

// Runs the kernel on one vector. Returns the update or, if the pass applies it, the new parameters. p_out receives
// the parameters before the update.
template <Then then, class S, class Kernel, class Ports>
ALGOPERF_INLINE Vector<S> sweep_vector(const Kernel& kernel, S* u, S* p, S* const (&slots)[Kernel::slots + 1],
                                       const Ports& ports, std::size_t i, Vector<S>& p_out) {
  using V = Vector<S>;
  V update;
  if constexpr (Ports::none)
    update = V::load(u + i);
  else
    update = ports.load(i);
  const V parameter = V::load(p + i);
  Slots<V, Kernel::slots> s;
  if constexpr (Kernel::slots > 0)
    for (std::size_t j = 0; j < Kernel::slots; ++j) s[j] = V::load(slots[j] + i);
  if constexpr (then == Then::apply)
    update = kernel.applied(update, parameter, s);
  else
    update = kernel(update, parameter, s);
  if constexpr (Kernel::slots > 0)
    for (std::size_t j = 0; j < Kernel::slots; ++j) s[j].store(slots[j] + i);
  if constexpr (then == Then::apply) {
    update.store(p + i);
    if constexpr (!Ports::none) ports.store(update, i);
  }
  if constexpr (then == Then::store) update.store(u + i);
  p_out = parameter;
  return update;
}

// A copy of the last, partial vector of a sweep, padded to full width, so that the tail runs the same instructions as
// the rest.
template <class S, std::size_t N, class Ports>
struct Tail {
  static constexpr std::size_t width = Vector<S>::width;
  S u[width] = {}, p[width] = {}, slots[(N + 1) * width] = {};
  [[no_unique_address]] typename Ports::Tail ported = {};

  Tail(const Sweep<S, Ports>& at, std::size_t begin, std::size_t n) {
    if constexpr (Ports::none)
      __builtin_memcpy(u, at.u + begin, n * sizeof(S));
    else
      at.ports.copy_in(begin, n, ported);
    __builtin_memcpy(p, at.p + begin, n * sizeof(S));
    for (std::size_t j = 0; j != N; ++j)
      __builtin_memcpy(slots + j * width, at.slots + j * at.stride + begin, n * sizeof(S));
  }
  void copy_back(const Sweep<S, Ports>& at, std::size_t begin, std::size_t n, Then then) const {
    if constexpr (!Ports::none)
      if (then == Then::apply) at.ports.copy_out(begin, n, ported);
    if (then == Then::store) __builtin_memcpy(at.u + begin, u, n * sizeof(S));
    if (then == Then::apply) __builtin_memcpy(at.p + begin, p, n * sizeof(S));
    for (std::size_t j = 0; j != N; ++j)
      __builtin_memcpy(at.slots + j * at.stride + begin, slots + j * width, n * sizeof(S));
  }
  Sweep<S, Ports> sweep(const Sweep<S, Ports>& at, std::size_t begin) {
    return {u, p, slots, width, at.ports.of(ported, begin)};
  }
};

template <std::size_t N, class S, class Ports>
ALGOPERF_HD void slot_pointers(const Sweep<S, Ports>& at, S* (&slots)[N + 1]) {
  for (std::size_t j = 0; j != N; ++j) slots[j] = at.slots + j * at.stride;
}

// Whether sweeps issue software prefetches. The hardware prefetchers of Intel processors do not keep up with the
// number of arrays that a rule with slots uses. Software prefetches make a sweep up to 1.2 times as fast there. On AMD
// Zen 4 the sweep takes 1.05 to 1.2 times as long with them. Other processors were not measured.
inline bool asks_ahead() {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

// Runs the kernel over [begin, end). If the kernel has slots, the arrays together exceed 8 MiB, and asks_ahead() is
// true, the sweep prefetches the lines of each array one kilobyte ahead. A sweep without slots would take up to 1.1
// times as long with prefetches.
template <Then then, class S, class Ports, class Kernel>
ALGOPERF_ONE_COPY void sweep(const Kernel kernel, const Sweep<S, Ports> at, std::size_t begin, std::size_t end) {
  constexpr std::size_t width = Vector<S>::width;
  const FlushDenormals flush;
  S* const u = at.u;
  S* const p = at.p;
  S* slots[Kernel::slots + 1];
  slot_pointers<Kernel::slots>(at, slots);
  const std::size_t whole = end - (end - begin) % width;
  std::size_t i = begin;
  Vector<S> ignored;
  constexpr std::size_t line = 64 / sizeof(S), block = 2 * line, ahead = 16 * line, large = 8 << 20;
  const bool far = Kernel::slots > 0 && at.stride * sizeof(S) * (Kernel::slots + 2) > large && asks_ahead();
  while (i != whole) {
    const std::size_t stop = far && whole - i > block ? i + block : whole;
    if (far)
      for (std::size_t j = i + ahead; j != i + ahead + block; j += line) {
        if constexpr (Ports::none) __builtin_prefetch(u + j, then == Then::store);
        if constexpr (then == Then::apply) __builtin_prefetch(p + j, 1);
        for (std::size_t k = 0; k != Kernel::slots; ++k) __builtin_prefetch(slots[k] + j, 1);
      }
    for (; i != stop; i += width) sweep_vector<then>(kernel, u, p, slots, at.ports, i, ignored);
  }
  if (i == end) return;
  Tail<S, Kernel::slots, Ports> tail(at, i, end - i);
  sweep<then>(kernel, tail.sweep(at, i), 0, width);
  tail.copy_back(at, i, end - i, then);
}

// Runs the kernel over [begin, end), at most one chunk, and writes the sums of stage.measure(u, p) to `sums`.
template <Then then, std::size_t N, class S, class Ports, class Kernel, class Stage>
ALGOPERF_ONE_COPY void sweep_chunk(const Kernel kernel, const Stage stage, const Sweep<S, Ports> at, std::size_t begin,
                                   std::size_t end, double* sums) {
  using V = Vector<S>;
  constexpr std::size_t vectors = V::width < lanes ? lanes / V::width : 1;
  static_assert(V::width <= lanes && then != Then::apply);
  const FlushDenormals flush;
  S* const u = at.u;
  S* const p = at.p;
  S* slots[Kernel::slots + 1];
  slot_pointers<Kernel::slots>(at, slots);
  V totals[N][vectors];
  for (auto& lane : totals)
    for (V& v : lane) v = V(S(0));
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes)
    for_each_index<vectors>([&](auto k) ALGOPERF_INLINE_LAMBDA {
      V parameter;
      const V update = sweep_vector<then>(kernel, u, p, slots, at.ports, i + k * V::width, parameter);
      const auto terms = stage.measure(update, parameter);
      for (std::size_t m = 0; m < N; ++m) totals[m][k] += terms[m];
    });
  for (std::size_t k = 0; i < end; ++k, i += V::width) {
    const std::size_t n = end - i < V::width ? end - i : V::width;
    Tail<S, Kernel::slots, Ports> tail(at, i, n);
    const Sweep<S, Ports> within = tail.sweep(at, i);
    S* tail_slots[Kernel::slots + 1];
    slot_pointers<Kernel::slots>(within, tail_slots);
    V parameter;
    const V update = sweep_vector<then>(kernel, within.u, within.p, tail_slots, within.ports, 0, parameter);
    tail.copy_back(at, i, n, then);
    S index[V::width];
    for (std::size_t lane = 0; lane < V::width; ++lane) index[lane] = S(lane);
    const auto valid = V::load(index) < V(n);  // padding is never summed
    const auto terms = stage.measure(update, parameter);
    for (std::size_t m = 0; m < N; ++m) totals[m][k] += math::select<V>(valid, terms[m], V(S(0)));
  }
  for (std::size_t m = 0; m < N; ++m) {
    S lane[lanes];
    for (std::size_t k = 0; k < vectors; ++k) totals[m][k].store(lane + k * V::width);
    double sum[lanes];
    for (std::size_t j = 0; j < lanes; ++j) sum[j] = static_cast<double>(lane[j]);
    sums[m] = tree_sum(sum);
  }
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
