// Row operations of matrix rules: functors for a backend's for_each_row(rows, cost, functor).
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/config.hpp"

namespace algoperf::detail {

// Copies row r of `from` to row r of `to`: gathers a block of a matrix, or writes it back.
template <class S>
struct CopyRows {
  std::size_t cols, from_stride, to_stride;
  const S* from;
  S* to;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    team.copy(cols, from + r * from_stride, to + r * to_stride);
  }
};

// Row order[r] of `from` becomes row r of `to`.
template <class S>
struct PermuteRows {
  std::size_t cols;
  const std::int32_t* order;
  const S* from;
  S* to;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    team.copy(cols, from + static_cast<std::size_t>(order[r]) * cols, to + r * cols);
  }
};

// Column order[c] of `from` becomes column c of `to`.
template <class S>
struct PermuteColumns {
  std::size_t cols;
  const std::int32_t* order;
  const S* from;
  S* to;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const std::int32_t* const places = order;
    const S* const row = from + r * cols;
    S* const out = to + r * cols;
    team.each(cols, [=](std::size_t c) { out[c] = row[places[c]]; });
  }
};

// x + value I
template <class S>
struct AddToDiagonal {
  std::size_t n;
  S value;
  S* x;
  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    S* const diagonal = x + r * n + r;
    const S more = value;
    team.each(1, [=](std::size_t) { *diagonal += more; });
  }
};

// Writes the n x n identity to x.
template <class Backend, class S>
void set_identity(const Backend& backend, std::size_t n, S* x) {
  backend.fill(n * n, x, S(0));
  backend.for_each_row(n, 1, AddToDiagonal<S>{n, 1, x});
}

}  // namespace algoperf::detail
