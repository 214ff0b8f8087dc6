#pragma once

#include <cstddef>

#include "../../core/config.hpp"
#include "../../core/half.hpp"
#include "../../core/shape.hpp"

namespace algoperf::detail {

constexpr std::size_t last_extent(const Shape& shape) { return shape.rank == 0 ? 1 : shape[shape.rank - 1]; }

// Copies, or adds, the first `columns` columns of each row of a matrix to another matrix.
template <class S>
struct CopyColumns {
  std::size_t columns, from_width, to_width;
  const S* from;
  S* to;
  bool adds = false;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    using T = Arithmetic<S>;
    const S* const x = from + r * from_width;
    S* const y = to + r * to_width;
    if (adds)
      team.each(columns, [x, y](std::size_t i) { y[i] = S(T(y[i]) + T(x[i])); });
    else
      team.copy(columns, x, y);
  }
};

}  // namespace algoperf::detail
