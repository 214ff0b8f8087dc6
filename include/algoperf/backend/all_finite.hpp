// Tests whether an array is free of infinity and NaN, on any backend.
#pragma once

#include <cstddef>

#include "../core/finite.hpp"
#include "host/thread_pool.hpp"
#include "work.hpp"

namespace algoperf::detail {

// For chunk r, a row of the backend's for_each_row: bad[r] = the number of elements that are infinite or NaN.
template <class T>
struct CountBad {
  std::size_t n;
  const T* x;
  float* bad;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const T* const from = x + r * chunk;
    const std::size_t left = n - r * chunk;
    bad[r] = team.template sum<float>(left < chunk ? left : chunk,
                                      [from](std::size_t i) { return finite_bits(from[i]) ? 0.0f : 1.0f; });
  }
};

// Counts the infinite and NaN elements of each chunk of x, in device memory. `bad` has chunks_of(n) elements.
template <class B, class T>
void count_bad(const B& backend, std::size_t n, const T* x, float* bad) {
  backend.for_each_row(chunks_of(n), chunk, CountBad<T>{n, x, bad});
}

// Returns whether all n elements of x, in host memory, are finite.
template <class T>
bool all_finite(unsigned threads, std::size_t n, const T* x) {
  bool finite = true;
  ThreadPool::instance().parallel_for(threads, chunks_of(n), [&](std::size_t i) {
    const std::size_t end = (i + 1) * chunk < n ? (i + 1) * chunk : n;
    unsigned bad = 0;
    for (std::size_t k = i * chunk; k < end; ++k) bad |= unsigned{!finite_bits(x[k])};
    if (bad != 0) __atomic_store_n(&finite, false, __ATOMIC_RELAXED);
  });
  return finite;
}

}  // namespace algoperf::detail
