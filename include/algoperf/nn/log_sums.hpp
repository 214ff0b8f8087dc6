#pragma once

#include <cstddef>

#include "../core/half.hpp"
#include "../core/math.hpp"

namespace algoperf::detail {

// exp(z - top)
template <class S>
struct ExponentialBelow {
  S top;
  template <class T>
  ALGOPERF_HD T operator()(T, T z) const {
    return math::exp(z - T(top));
  }
};

// log(sum_k exp(z_k)) of each row z. Infinite or NaN if an element is NaN or +infinity, or if all are -infinity.
template <class S>
struct LogSums {
  using T = Arithmetic<S>;
  std::size_t width;
  const S* rows;
  T* exponentials;  // scratch memory for as many elements as the rows have
  T* out;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const S* const z = rows + r * width;
    T* const e = exponentials + r * width;
    const T top = team.template max<T>(width, [z](std::size_t k) { return T(z[k]); });
    team.map(ExponentialBelow<T>{top}, width, e, z);
    const T total = team.template sum<T>(width, [e](std::size_t k) { return e[k]; });
    out[r] = top + math::log(total);
  }
};

}  // namespace algoperf::detail
