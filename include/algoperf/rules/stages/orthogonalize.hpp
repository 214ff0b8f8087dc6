#pragma once

#include <cstddef>
#include <type_traits>

#include "../../backend/precision.hpp"
#include "../../backend/products/symmetric_product.hpp"
#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../../core/shape.hpp"
#include "../concept.hpp"
#include "newton_schulz.hpp"

namespace algoperf {

// The factor by which Orthogonalize multiplies its result for a matrix of `rows` x `cols`.
enum class OrthogonalScale {
  none,
  original,   // sqrt(max(1, rows / cols)): Jordan et al.
  match_rms,  // 0.2 sqrt(max(rows, cols)): the RMS of an AdamW update (Liu et al. 2025, arXiv:2502.16982)
  unit_rms,   // sqrt(rows / cols): RMS-to-RMS operator norm 1 (Bernstein & Newhouse 2024, arXiv:2409.20325)
};

namespace detail {

// x / max(norm, eps), where *square is norm^2. `square` may point to device memory, so the host need not read the norm.
template <class S>
struct DivideByNorm {
  const double* square;
  double eps;
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return static_cast<S>(1 / math::max(math::sqrt(*square), eps)) * x;
  }
};

struct NearestBfloat16 {
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return math::nearest_bfloat16(x);
  }
};
// The result of another kernel, rounded to bfloat16.
template <class Kernel>
struct InBfloat16 {
  Kernel kernel;
  template <class... T>
  ALGOPERF_HD auto operator()(T... x) const {
    return math::nearest_bfloat16(kernel(x...));
  }
};

}  // namespace detail

// Replaces a matrix by an approximation of the nearest (semi-)orthogonal matrix, then multiplies it by the factor of
// `scale`. With X = u / max(|u|_F, eps), `steps` times
//   X' = a X + (b A + c A A) X,  A = X X^T     (if rows > cols: X' = a X + X (b A + c A A),  A = X^T X)
// The stage accepts matrices only. Assign other tensors to another rule with partition(matrices, ..., otherwise, ...).
// The kernel of a convolution is treated as a matrix with one row per filter.
// If this precision or the backend's is bf16, X, A, b A + c A A and X' are rounded to bfloat16. The products then take
// about half of the time on a host with AVX512_BF16 (backend/precision.hpp).
// Hyperparameters: steps >= 1; eps > 0; coefficients from rules/stages/newton_schulz.hpp or a custom list; scale;
// precision (fp32: that of the backend; in double, it has no effect).
// Source: the Newton-Schulz iteration of Muon (Jordan et al. 2024), with its coefficients as the default.
// Departures: the original code and torch.optim.Muon iterate in bfloat16; by default, this stage computes in the
// backend's scalar, and in bfloat16, it does not round the norm. The norm is bounded as in torch.optim.Muon, by
// max(|u|_F, eps); the original code divides by |u|_F + eps.
// Cost: no state. Per matrix of m x n, m <= n: steps (4 m^2 n + 2 m^3) FLOPs; on a host about steps (3 m^2 n + m^3),
// because two of the three products are symmetric. A host assigns whole matrices to each thread, so each thread has
// scratch for the largest matrix. If every shape has fewer matrices than there are threads, the matrices are processed
// one at a time and share one scratch.
struct Orthogonalize {
  int steps = 5;
  NewtonSchulzSteps coefficients = newton_schulz::simple;
  double eps = 1e-7;
  OrthogonalScale scale = OrthogonalScale::original;
  Precision precision = Precision::fp32;

  void check() const {
    require(steps > 0, "Orthogonalize: steps is ", steps, ", expected at least 1");
    require_more_than(0, "Orthogonalize", "eps", eps);
  }

  // Scratch for one matrix per slot of the backend's concurrent calls: X, the next X, A and b A + c A A.
  template <class Backend>
  struct State {
    std::size_t slots, largest, largest_gram;
    typename Backend::template Array<typename Backend::Scalar> x, y, gram, polynomial;
    typename Backend::template Array<double> squares;  // asynchronous backends only: |u|_F^2 of each slot
  };

  template <class Backend>
  State<Backend> state(const Backend& backend, const auto& layout, const auto& region) const {
    std::size_t largest = 0, gram = 0, most = 0;
    for (std::size_t i = 0; i < region.tensors.size(); ++i) {
      const auto& spec = layout.spec(region.tensors[i]);
      require(spec.shape.rank >= 2, "Orthogonalize: the tensor '", spec.name,
              "' is not a matrix; use partition(matrices, muon(), otherwise, adamw())");
      const std::size_t side = math::min(spec.shape.rows(), spec.shape.cols());
      largest = math::max(largest, whole_lines(spec.shape.size()));
      gram = math::max(gram, whole_lines(side * side));
      most = math::max(most, alike(layout, region, i));
    }
    const std::size_t slots = most >= backend.concurrency() ? backend.concurrency() : 1;
    const auto array = [&](std::size_t n) { return backend.template array<typename Backend::Scalar>(slots * n); };
    return {slots,          largest,
            gram,           array(largest),
            array(largest), array(gram),
            array(gram),    backend.template array<double>(AsynchronousBackend<Backend> ? slots : 0)};
  }

  // Processes all matrices of the same shape as one batch.
  template <class Backend>
  void transform(const MatrixWork<Backend>& work, State<Backend>& state) const {
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (next_alike(work.layout, work.region, i, 0) != i) continue;  // not the first of its shape
      work.backend.run_concurrently(
          state.slots, alike(work.layout, work.region, i), [&](const Backend& one, std::size_t slot, std::size_t k) {
            std::size_t j = i;
            while (k-- > 0) j = next_alike(work.layout, work.region, i, j + 1);
            orthogonalize(with_precision(one, precision), work.shape(i), work.u_of(j), state, slot);
          });
    }
  }

 private:
  // Rounds n up to a multiple of 16, so that every slot has the alignment of the first.
  static constexpr std::size_t whole_lines(std::size_t n) { return (n + 15) / 16 * 16; }

  // Returns the index, at least `begin`, of the first tensor with as many rows and columns as tensor i. Returns the
  // number of tensors if there is none.
  static std::size_t next_alike(const auto& layout, const auto& region, std::size_t i, std::size_t begin) {
    const Shape& shape = layout.spec(region.tensors[i]).shape;
    for (; begin < region.tensors.size(); ++begin) {
      const Shape& other = layout.spec(region.tensors[begin]).shape;
      if (other.rows() == shape.rows() && other.cols() == shape.cols()) break;
    }
    return begin;
  }
  // Returns the number of tensors with as many rows and columns as tensor i.
  static std::size_t alike(const auto& layout, const auto& region, std::size_t i) {
    std::size_t count = 0;
    for (std::size_t j = 0; (j = next_alike(layout, region, i, j)) < region.tensors.size(); ++j) ++count;
    return count;
  }

  template <class Backend, class S>
  void orthogonalize(const Backend& backend, const Shape& shape, S* u, State<Backend>& state, std::size_t slot) const {
    const std::size_t rows = shape.rows(), cols = shape.cols(), n = rows * cols, side = math::min(rows, cols);
    S* x = state.x.data() + slot * state.largest;
    S* y = state.y.data() + slot * state.largest;
    S* const gram = state.gram.data() + slot * state.largest_gram;
    S* const polynomial = state.polynomial.data() + slot * state.largest_gram;
    const S* const from = u;
    const bool rounds =
        std::is_same_v<S, float> && (precision == Precision::bf16 || precision_of(backend) == Precision::bf16);
    const auto map = [&]<class Kernel>(const Kernel& kernel, std::size_t size, S* to, auto... in) {
      if constexpr (std::is_same_v<S, float>)
        if (rounds) return backend.map(detail::InBfloat16<Kernel>{kernel}, size, to, in...);
      backend.map(kernel, size, to, in...);
    };
    backend.copy(n, from, x);
    if constexpr (AsynchronousBackend<Backend>) {
      double* const square = state.squares.data() + slot;
      backend.dot(n, from, from, square);
      map(detail::DivideByNorm<S>{square, eps}, n, x);
    } else {
      const double norm = math::sqrt(backend.dot(n, from, from));
      map(Multiply<S>{static_cast<S>(1 / math::max(norm, eps))}, n, x);
    }
    for (int i = 0; i < steps; ++i) {
      const auto [a, b, c] = coefficients[static_cast<std::size_t>(i)];
      if (rows > cols)
        symmetric_tn(backend, side, rows, x, x, gram);
      else
        symmetric_nt(backend, side, cols, x, x, gram);
      if constexpr (std::is_same_v<S, float>)
        if (rounds) backend.map(detail::NearestBfloat16{}, side * side, gram);
      symmetric_nn(backend, side, gram, gram, polynomial);
      map(LinearCombination<S>{static_cast<S>(c), static_cast<S>(b)}, side * side, polynomial,
          static_cast<const S*>(gram));
      if (rows > cols)
        backend.gemm_nn(rows, cols, cols, x, polynomial, y);
      else
        backend.gemm_nn(rows, cols, rows, polynomial, x, y);
      map(LinearCombination<S>{1, static_cast<S>(a)}, n, y, static_cast<const S*>(x));
      S* const next = y;
      y = x;
      x = next;
    }
    backend.map(Multiply<S>{static_cast<S>(scale_of(static_cast<double>(rows), static_cast<double>(cols)))}, n, x);
    backend.copy(n, x, u);
  }

  double scale_of(double rows, double cols) const {
    if (scale == OrthogonalScale::original) return math::sqrt(math::max(1.0, rows / cols));
    if (scale == OrthogonalScale::match_rms) return 0.2 * math::sqrt(math::max(rows, cols));
    if (scale == OrthogonalScale::unit_rms) return math::sqrt(rows / cols);
    return 1;
  }
};

}  // namespace algoperf
