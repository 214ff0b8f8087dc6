// Conversion of whole arrays between 16 bits and float, on any backend.
#pragma once

#include <cstddef>
#include <cstdint>

#include "guard.hpp"
#include "half_ports.hpp"
#include "host/thread_pool.hpp"
#include "work.hpp"

namespace algoperf::detail {
inline namespace ALGOPERF_SIMD {

// On the host: calls f(begin, end) over the whole vectors of [0, n) on up to `threads` threads, then g(begin, n) for
// the remaining elements.
template <class F, class G>
void over_vectors(unsigned threads, std::size_t n, const F& f, const G& g) {
  const std::size_t whole = n - n % Vector<float>::width;
  ThreadPool::instance().parallel_for(threads, chunks_of(whole), [&](std::size_t i) {
    f(i * chunk, (i + 1) * chunk < whole ? (i + 1) * chunk : whole);
  });
  if (whole < n) g(whole, n);
}

// On a device: converts one chunk, a row of the backend's for_each_row, without SIMD vectors.
template <class Half>
struct WidenChunk {
  std::size_t n;
  HalfPorts<Half> ports;
  float* x;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const std::size_t begin = r * chunk;
    const HalfPorts<Half> from = ports.there();
    float* const to = x;
    team.each(n - begin < chunk ? n - begin : chunk,
              [=](std::size_t i) { to[begin + i] = from.widened(from.gradients[begin + i]); });
  }
};
template <class Half, class Guard>
struct NarrowChunk {
  std::size_t n;
  const float* x;
  HalfPorts<Half> ports;
  Guard guard;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    if (guard.closes()) return;
    const std::size_t begin = r * chunk;
    const HalfPorts<Half> to = ports;
    const float* const from = x;
    team.each(n - begin < chunk ? n - begin : chunk,
              [=](std::size_t i) { to.values[begin + i] = to.narrowed(from[begin + i], begin + i); });
  }
};
// x[i] = scale gradients[i]
template <class B, class Half>
void widen(const B& backend, std::size_t n, const HalfPorts<Half>& ports, float* x) {
  if constexpr (!B::on_host)
    return backend.for_each_row(chunks_of(n), chunk, WidenChunk<Half>{n, ports, x});
  else
    over_vectors(
        backend.threads, n,
        [&](std::size_t i, std::size_t end) {
          for (; i < end; i += Vector<float>::width) ports.load(i).store(x + i);
        },
        [&](std::size_t i, std::size_t end) {
          for (; i < end; ++i) x[i] = ports.scale * static_cast<float>(ports.gradients[i]);
        });
}

// values[i] = x[i], rounded, unless guard.closes()
template <class B, class Half, class Guard>
void narrow(const B& backend, std::size_t n, const float* x, const HalfPorts<Half>& ports, const Guard& guard) {
  if constexpr (!B::on_host)
    return backend.for_each_row(chunks_of(n), chunk, NarrowChunk<Half, Guard>{n, x, ports, guard});
  else
    over_vectors(
        backend.threads, n,
        [&](std::size_t i, std::size_t end) {
          for (; i < end; i += Vector<float>::width) ports.store(Vector<float>::load(x + i), i);
        },
        [&](std::size_t i, std::size_t end) {
          typename HalfPorts<Half>::Tail tail = {};
          float rest[Vector<float>::width] = {};
          __builtin_memcpy(rest, x + i, (end - i) * sizeof(float));
          ports.of(tail, i).store(Vector<float>::load(rest), 0);
          ports.copy_out(i, end - i, tail);
        });
}

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
