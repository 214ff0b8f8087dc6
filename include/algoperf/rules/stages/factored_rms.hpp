#pragma once

#include <cstddef>

#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"
#include "../../core/require.hpp"
#include "../../core/shape.hpp"
#include "root.hpp"

namespace algoperf {

// The averaging coefficient beta_t of FactoredRms. It is 0 in the first step.
enum class RmsMemory {
  power,     // 1 - t^-decay: the paper, optax and torch, decay 0.8
  debiased,  // decay (1 - decay^(t-1)) / (1 - decay^t), which includes Adam's bias correction: AlgoPerf, 0.99
};

// How FactoredRms uses eps.
enum class RmsEps {
  added,  // added to each g^2: the paper, optax and AlgoPerf, 1e-30
  least,  // lower bound of mean(R) and of sqrt(V): torch; 0 means the scalar's machine epsilon, torch's default
};

namespace detail {

// x^2 + eps
template <class S>
struct SquarePlus {
  S eps = 0;
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return x * x + eps;
  }
};

// keep v + rest (x^2 + eps)
template <class S>
struct AverageSquare {
  S keep = 1, rest = 0;
  SquarePlus<S> square;
  template <class T>
  ALGOPERF_HD T operator()(T v, T x) const {
    return keep * v + rest * square(x);
  }
};

// (scale v)^-1/2, independent of x.
template <class S>
struct InverseRoot {
  S scale = 1;
  template <class T>
  ALGOPERF_HD T operator()(T, T v) const {
    return T(S(1)) / math::sqrt(scale * v);
  }
};

// x min(v^-1/2, most)
template <class S>
struct OverRootOf {
  S most = 1;
  template <class T>
  ALGOPERF_HD T operator()(T x, T v) const {
    return x * math::min(T(most), T(S(1)) / math::sqrt(v));
  }
};

// The state of FactoredRms for a region. `averages` holds, for each tensor in order, R followed by C if the tensor is
// factored, otherwise V. `factors` is scratch: for each factored matrix, the factors of its rows, then the factors of
// its columns.
template <class Backend>
struct FactoredRmsState {
  using Array = typename Backend::template Array<typename Backend::Scalar>;
  std::size_t least_side;
  Array averages, factors;

  static bool is_factored(const Shape& shape, std::size_t least_side) {
    return shape.rank >= 2 && math::min(shape.rows(), shape.cols()) >= least_side;
  }
  static std::size_t size_of(const Shape& shape, std::size_t least_side) {
    return is_factored(shape, least_side) ? shape.rows() + shape.cols() : shape.size();
  }

  // Archives the averages of tensor i of the region, by name.
  template <class Archive>
  void visit(Archive& archive, const Backend& backend, const auto& layout, const auto& region, std::size_t i) {
    auto* at = averages.data();
    for (std::size_t k = 0; k < i; ++k) at += size_of(layout.spec(region.tensors[k]).shape, least_side);
    const Shape& shape = layout.spec(region.tensors[i]).shape;
    if (is_factored(shape, least_side)) {
      archive.array("exp_avg_sq_row", backend, at, shape.rows());
      archive.array("exp_avg_sq_col", backend, at + shape.rows(), shape.cols());
    } else {
      archive.array("exp_avg_sq", backend, at, shape.size());
    }
  }
};

}  // namespace detail

// The direction of Adafactor: the gradient divided by the root of its second moment V. For an m x n matrix, only the
// averages R of the rows and C of the columns of V are stored. With q = g^2 + eps:
//   R' = beta_t R + (1 - beta_t) mean over columns of q        m values
//   C' = beta_t C + (1 - beta_t) mean over rows of q           n values
//   u' = g / sqrt(V),  V = R' C'^T / mean(R')
// A tensor of rank 1, or with fewer than least_side rows or columns, is not factored and stores all of V:
//   V' = beta_t V + (1 - beta_t) q
// Hyperparameters: decay in (0, 1), or also 1 with RmsMemory::power; eps > 0, or >= 0 with RmsEps::least; least_side.
// Source: Shazeer & Stern 2018, Algorithms 4 and 5 (arXiv:1804.04235). The defaults are optax's
// scale_by_factored_rms.
// Departures: R and C are means, as in optax, where the paper has sums; both give the same V. For rank > 2, a tensor
// is treated as one rows() x cols() matrix: its first extent by the product of the others. The paper and AlgoPerf treat
// it as many matrices of the last two extents; optax factors its two largest extents.
// Cost: state of m + n values per matrix, `exp_avg_sq_row` and `exp_avg_sq_col`, or of one value per parameter,
// `exp_avg_sq`, for tensors that are not factored. Computing the sums of a matrix takes 4 bytes per parameter (8 with
// more than one thread) and scratch of m + n values; the following passes divide by sqrt(V) as they read u. A tensor
// that is not factored takes 24 bytes per parameter.
struct FactoredRms {
  double decay = 0.8;
  RmsMemory memory = RmsMemory::power;
  double eps = 1e-30;
  RmsEps eps_at = RmsEps::added;
  std::size_t least_side = 128;

  static constexpr std::size_t transform_traffic = 1;
  static constexpr bool leaves_factors = true;
  void check() const {
    const bool one = memory == RmsMemory::power;
    require(decay > 0 && (decay < 1 || (one && decay == 1)), "FactoredRms: decay is ", decay,
            one ? ", expected (0, 1]" : ", expected (0, 1)");
    if (eps_at == RmsEps::added) detail::check_eps("FactoredRms", eps);
    require_at_least(0, "FactoredRms", "eps", eps);
  }

  template <class Backend>
  using State = detail::FactoredRmsState<Backend>;

  template <class Backend>
  State<Backend> state(const Backend& backend, const auto& layout, const auto& region) const {
    std::size_t kept = 0, scratch = 0;
    for (const auto handle : region.tensors) {
      const Shape& shape = layout.spec(handle).shape;
      kept += State<Backend>::size_of(shape, least_side);
      if (State<Backend>::is_factored(shape, least_side)) scratch += shape.rows() + shape.cols();
    }
    using S = typename Backend::Scalar;
    return {least_side, backend.template array<S>(kept), backend.template array<S>(scratch)};
  }

  template <class Backend>
  void transform(const MatrixWork<Backend>& work, State<Backend>& state) const {
    using S = typename Backend::Scalar;
    const double beta = beta_at(static_cast<double>(work.step.t));
    S* averages = state.averages.data();
    S* factors = state.factors.data();
    for (std::size_t i = 0; i < work.size(); ++i) {
      const Shape& shape = work.shape(i);
      if (State<Backend>::is_factored(shape, least_side)) {
        factor(work.backend, beta, shape.rows(), shape.cols(), work.u_of(i), averages, factors);
        work.tensors[i].factors = {factors, factors + shape.rows(), most<S>()};
        factors += shape.rows() + shape.cols();
      } else {
        divide(work.backend, beta, shape.size(), work.u_of(i), averages);
        work.tensors[i].factors = {};
      }
      averages += State<Backend>::size_of(shape, least_side);
    }
  }

 private:
  double beta_at(double t) const {
    if (memory == RmsMemory::power) return 1 - __builtin_pow(t, -decay);
    return decay * (1 - __builtin_pow(decay, t - 1)) / (1 - __builtin_pow(decay, t));
  }

  template <class S>
  double least() const {
    return eps > 0 ? eps : sizeof(S) == 4 ? 0x1p-23 : 0x1p-52;
  }
  template <class S>
  detail::SquarePlus<S> square() const {
    return {eps_at == RmsEps::added ? detail::positive<S>(eps) : S(0)};
  }
  // Returns the upper bound of 1 / sqrt(V).
  template <class S>
  S most() const {
    if (eps_at == RmsEps::least) return static_cast<S>(1 / least<S>());
    return static_cast<S>(sizeof(S) == 4 ? 0x1p127 : 0x1p1023);
  }

  template <class Backend, class S>
  void factor(const Backend& backend, double beta, std::size_t rows, std::size_t cols, const S* u, S* of_rows,
              S* factors) const {
    S* const of_columns = of_rows + rows;
    S* const row_factors = factors;
    S* const column_factors = factors + rows;
    const double m = static_cast<double>(rows), n = static_cast<double>(cols);
    const auto average = [&](std::size_t count, double terms, S* kept, const S* sums) {
      backend.map(LinearCombination<S>{static_cast<S>(beta), static_cast<S>((1 - beta) / terms)}, count, kept, sums);
    };
    backend.row_and_column_sums(square<S>(), rows, cols, u, row_factors, column_factors);
    average(rows, n, of_rows, row_factors);
    average(cols, m, of_columns, column_factors);
    double mean = backend.sum(rows, static_cast<const S*>(of_rows)) / m;
    if (eps_at == RmsEps::least) mean = math::max(least<S>(), mean);
    backend.map(detail::InverseRoot<S>{static_cast<S>(1 / mean)}, rows, row_factors, static_cast<const S*>(of_rows));
    backend.map(detail::InverseRoot<S>{}, cols, column_factors, static_cast<const S*>(of_columns));
  }

  template <class Backend, class S>
  void divide(const Backend& backend, double beta, std::size_t n, S* u, S* v) const {
    const detail::AverageSquare<S> average{static_cast<S>(beta), static_cast<S>(1 - beta), square<S>()};
    backend.map(average, n, v, static_cast<const S*>(u));
    backend.map(detail::OverRootOf<S>{most<S>()}, n, u, static_cast<const S*>(v));
  }
};

}  // namespace algoperf
