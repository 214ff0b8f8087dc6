#pragma once

#include <cstddef>

#include "../core/config.hpp"
#include "../core/tuple.hpp"
#include "concept.hpp"
#include "host/denormals.hpp"
#include "host/first_lanes.hpp"
#include "host/random_words.hpp"
#include "host/vector.hpp"
#include "work.hpp"

namespace algoperf {

// A team (backend/concept.hpp) of one thread.
struct SerialTeam {
  static constexpr unsigned size = 1;

  template <class F>
  ALGOPERF_HD void each(std::size_t n, const F& f) const {
    for (std::size_t i = 0; i < n; ++i) f(i);
  }
  ALGOPERF_NO_EXEC_CHECK
  template <class S, class F>
  ALGOPERF_HD S sum(std::size_t n, const F& f) const {
    S total[detail::lanes] = {};
    std::size_t i = 0;
    for (; i + detail::lanes <= n; i += detail::lanes)
      for (std::size_t j = 0; j < detail::lanes; ++j) total[j] += f(i + j);
    for (std::size_t j = 0; i + j < n; ++j) total[j] += f(i + j);
    return detail::tree_sum(total);
  }
  // Returns the maximum of f(i) over i in [0, n), n > 0.
  template <class S, class F>
  ALGOPERF_HD S max(std::size_t n, const F& f) const {
    const S first = f(0);
    S most[detail::lanes];
    for (S& lane : most) lane = first;
    const auto take = [&most](std::size_t j, S x) { most[j] = detail::Larger{}(most[j], x); };
    std::size_t i = 0;
    for (; i + detail::lanes <= n; i += detail::lanes)
      for (std::size_t j = 0; j < detail::lanes; ++j) take(j, f(i + j));
    for (std::size_t j = 0; i + j < n; ++j) take(j, f(i + j));
    return detail::fold_halves<detail::lanes>(most, detail::Larger{});
  }
  // x[i] = kernel(x[i], in[i]...), by SIMD vectors. The elements after the last whole vector are computed as
  // a partial vector, so that they have the same bits as in a whole one.
  template <class S, class Kernel, class... In>
  ALGOPERF_HD void map(const Kernel kernel, std::size_t n, S* x, const In*... in) const {
    using V = Vector<S>;
    std::size_t i = 0;
    for (; i + V::width <= n; i += V::width) kernel(V::load(x + i), V::load(in + i)...).store(x + i);
    if (const std::size_t rest = n - i; rest > 0)
      detail::store_first<S>(kernel(detail::load_first(x + i, rest), detail::load_first(in + i, rest)...), x + i, rest);
  }
  // kernel(x[i], y[i], in[i]...) sets x[i] and y[i], by SIMD vectors.
  template <class S, class Kernel, class... In>
  ALGOPERF_HD void map_to_two(const Kernel kernel, std::size_t n, S* x, S* y, const In*... in) const {
    using V = Vector<S>;
    std::size_t i = 0;
    for (; i + V::width <= n; i += V::width) {
      V first, second;
      kernel(first, second, V::load(in + i)...);
      first.store(x + i);
      second.store(y + i);
    }
    if (const std::size_t rest = n - i; rest > 0) {
      V first, second;
      kernel(first, second, detail::load_first(in + i, rest)...);
      detail::store_first(first, x + i, rest);
      detail::store_first(second, y + i, rest);
    }
  }
  template <class F>
  ALGOPERF_HD void each_random(RandomKey key, std::uint64_t stream, std::size_t n, const F& f) const {
    constexpr std::size_t most = 4 * detail::random_blocks;
    std::uint32_t words[most];
    std::size_t i = 0;
    for (; i + most <= n; i += most) {
      detail::random_words(key.value, i / 4, stream, words);
      f(i, Index<most>{}, words);
    }
    if (i < n) {
      detail::random_words(key.value, i / 4, stream, words);
      f(i, n - i, words);
    }
  }
  template <class S>
  ALGOPERF_HD void copy(std::size_t n, const S* from, S* to) const {
    __builtin_memcpy(to, from, n * sizeof(S));
  }
  // Sets row k of `to`, of `length` scalars, to f(k).
  template <class S, class F>
  ALGOPERF_HD void copy_rows(unsigned count, unsigned length, S* to, const F& f) const {
    for (unsigned k = 0; k < count; ++k, to += length) {
      const Stretch<S> row = f(k);
      for (unsigned j = 0; j < row.begin; ++j) to[j] = S(0);
      if (row.begin < row.end) __builtin_memcpy(to + row.begin, row.from, (row.end - row.begin) * sizeof(S));
      for (unsigned j = row.end; j < length; ++j) to[j] = S(0);
    }
  }
};

namespace detail {
inline namespace ALGOPERF_SIMD {

template <class Kernel, class S, class... In>
ALGOPERF_ONE_COPY void map_range(const Kernel kernel, std::size_t n, S* x, const In*... in) {
  const FlushDenormals flush;
  SerialTeam{}.map(kernel, n, x, in...);
}

}  // namespace ALGOPERF_SIMD
}  // namespace detail
}  // namespace algoperf
