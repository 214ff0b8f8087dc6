// FactoredPorts: ports through which a host sweep reads a tensor that a matrix stage left as Factors
// (backend/work.hpp).
#pragma once

#include <cstddef>

#include "../core/math.hpp"
#include "host/vector.hpp"
#include "work.hpp"

namespace algoperf::detail {
inline namespace ALGOPERF_SIMD {

template <class S>
class FactoredPorts {
  using V = Vector<S>;

 public:
  static constexpr bool none = false;

  // For a tensor whose first element is element `begin` of u.
  FactoredPorts(const S* u, std::size_t begin, std::size_t cols, const Factors<S>& factors)
      : u_(u), begin_(begin), cols_(cols), row_end_(cols), factors_(factors) {}

  // Loads a vector from element i on. Within a sweep i must not decrease: the current row only advances.
  V load(std::size_t i) const {
    const std::size_t j = i - begin_;
    seek(j);
    if (j + V::width <= row_end_) {
      const V factor = V(factors_.rows[row_]) * V::load(factors_.columns + (j + cols_ - row_end_));
      return V::load(u_ + i) * math::min(V(factors_.most), factor);
    }
    S x[V::width];
    copy(i, V::width, x);
    return V::load(x);
  }
  void store(V, std::size_t) const {}

  // The last, partial vector of a sweep.
  struct Tail {
    S u[V::width], ones[V::width];
  };
  void copy_in(std::size_t begin, std::size_t n, Tail& tail) const {
    for (std::size_t k = 0; k < V::width; ++k) {
      tail.u[k] = 0;
      tail.ones[k] = 1;
    }
    copy(begin, n, tail.u);
  }
  void copy_out(std::size_t, std::size_t, const Tail&) const {}
  FactoredPorts of(Tail& tail, std::size_t) const { return {tail.u, 0, V::width, {tail.ones, tail.ones, 1}}; }

 private:
  void seek(std::size_t j) const {
    if (j < row_end_) return;
    row_ = j < row_end_ + cols_ ? row_ + 1 : j / cols_;
    row_end_ = (row_ + 1) * cols_;
  }
  // Copies n elements from i on, which may span several rows.
  void copy(std::size_t i, std::size_t n, S* to) const {
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t j = i + k - begin_;
      seek(j);
      to[k] = u_[i + k] * math::min(factors_.most, factors_.rows[row_] * factors_.columns[j + cols_ - row_end_]);
    }
  }

  const S* u_;
  std::size_t begin_, cols_;
  mutable std::size_t row_ = 0, row_end_;  // row of the last read, and where it ends
  Factors<S> factors_;
};

}  // namespace ALGOPERF_SIMD
}  // namespace algoperf::detail
