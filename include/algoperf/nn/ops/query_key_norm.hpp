#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/half.hpp"
#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"
#include "../init.hpp"
#include "check_alike.hpp"

namespace algoperf {

namespace detail {

// a dy - b y
template <class S>
struct LessProjection {
  S a, b;
  template <class T>
  ALGOPERF_HD T operator()(T, T dy, T y) const {
    return T(a) * dy - T(b) * y;
  }
};

// A row holds queries, keys and values of `heads` heads with `size` elements each.
template <class S>
struct NormalizeQueriesAndKeys {
  using T = Arithmetic<S>;
  std::size_t heads, size;
  T eps;
  const T* scale;
  const S* x;
  S* y;
  T* norms;  // 2 heads per row

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const std::size_t width = heads * size;
    for (std::size_t k = 0; k < 2 * heads; ++k) {
      const S* const from = x + r * 3 * width + k * size;
      const T square = team.template sum<T>(size, [from](std::size_t c) {
        const T v = from[c];
        return v * v;
      });
      const T norm = math::sqrt(square);
      norms[r * 2 * heads + k] = norm;
      const T factor = k < heads ? *scale : T(1);
      team.map(ScaledBy<T>{factor / (norm + eps)}, size, y + r * 3 * width + k * size, from);
    }
    if (x != y) team.copy(width, x + r * 3 * width + 2 * width, y + r * 3 * width + 2 * width);
  }
};
template <class S>
struct NormalizeQueriesAndKeysBackward {
  using T = Arithmetic<S>;
  std::size_t heads, size;
  T eps;
  const T* scale;
  const S* y;
  const S* dy;
  const T* norms;
  T* of_scale;  // the contribution of each row to the scale's gradient
  S* dx;        // null if not required

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const std::size_t width = heads * size;
    T total = 0;
    for (std::size_t k = 0; k < 2 * heads; ++k) {
      const std::size_t at = r * 3 * width + k * size;
      const S *const out = y + at, *const d = dy + at;
      const T dot = team.template sum<T>(size, [out, d](std::size_t c) { return T(out[c]) * T(d[c]); });
      const T factor = k < heads ? *scale : T(1), norm = norms[r * 2 * heads + k], along = factor * norm;
      if (k < heads && factor != T(0)) total += dot / factor;
      if (dx == nullptr) continue;
      team.map(LessProjection<T>{factor / (norm + eps), along != T(0) ? dot / along : T(0)}, size, dx + at, d, out);
    }
    of_scale[r] = total;
    if (dx != nullptr && dx != dy) team.copy(width, dy + r * 3 * width + 2 * width, dx + r * 3 * width + 2 * width);
  }
};

// total = sum of x[i]; one team.
template <class T>
struct SumInto {
  std::size_t n;
  const T* x;
  T* total;
  bool adds;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t) const {
    const T* const from = x;
    const T sum = team.template sum<T>(n, [from](std::size_t i) { return from[i]; });
    T* const to = total;
    const bool add = adds;
    team.each(1, [=](std::size_t) { *to = add ? *to + sum : sum; });
  }
};

struct QueryKeyNormOp {
  std::size_t heads = 1;
  double eps = 1e-6;
  SharedTensor scale = {};  // {1}
  static constexpr const char* name = "query_key_norm";

  constexpr std::array<SharedTensor, 1> tensors() const { return {scale}; }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    check_activations(net, own, x[0]);
    const std::size_t width = x[0].shape.size();
    net.check(heads > 0 && width % (3 * heads) == 0, own, "the input has shape ", x[0].shape,
              ", expected queries, keys and values, each of a width that the number of heads, ", heads, ", divides");
    net.check(eps > 0, own, "eps is not positive");
    return x[0];
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const {
    OpTraits traits;
    traits.decodes = true;
    traits.reads_inputs = 0;
    traits.reads_outputs = 1;
    traits.in_place = 0;
    traits.memory.exact = 2 * heads + 1;  // the norms, and the contribution to the scale's gradient
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t rows = net.rows(x[0]), n = rows * x[0].shape.size() / 3 * 2;
    tally.operation({"query and key norm", 3 * n + 6 * rows * heads, n, n + 2 * rows * heads});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t rows = net.rows(x[0]), n = rows * x[0].shape.size() / 3 * 2;
    const bool input = net.needs_gradient(x[0]);
    tally.operation({"query and key norm, gradient", (input ? 5 : 2) * n + 10 * rows * heads, 2 * n + 2 * rows * heads,
                     (input ? n : 0) + 2 * rows});
  }

  template <class Call>
  void forward(const Call& call) const {
    using S = typename Call::S;
    const std::size_t width = call.in_shape(0).size() / 3;
    call.pass.backend.for_each_row(
        call.rows(0), 6 * width,
        NormalizeQueriesAndKeys<S>{heads, width / heads, static_cast<Arithmetic<S>>(eps), call.value(scale), call.in(0),
                                   call.out(), call.pass.exact});
  }
  template <class Call>
  void backward(const Call& call) const {
    using S = typename Call::S;
    using T = Arithmetic<S>;
    const std::size_t width = call.in_shape(0).size() / 3, rows = call.rows(0);
    T *const norms = call.pass.exact, *const of_scale = norms + rows * 2 * heads;
    call.pass.backend.for_each_row(
        rows, 10 * width,
        NormalizeQueriesAndKeysBackward<S>{heads, width / heads, static_cast<T>(eps), call.value(scale), call.out(),
                                           call.d_out(), norms, of_scale, call.d_in(0)});
    if (call.gradient(scale) != nullptr)
      call.pass.backend.for_each_row(1, rows, SumInto<T>{rows, of_scale, call.gradient(scale), call.adds_to_tensor(0)});
  }
};

}  // namespace detail

// A block that normalises the queries and keys of each head, and multiplies the queries by a trained number:
//   q' = scale q / (|q| + eps),   k' = k / (|k| + eps),   v' = v
// The scores of Attention{.scale = 1} then lie within +-scale.
// Shapes: in {3 width}, queries, keys and values in this order, out the same; `scale` {1}.
// Hyperparameters: heads, which must divide the width; eps > 0; init, the initial value of `scale`.
// Source: Henry et al. 2020, arXiv:2010.04245, section 3, which sets scale = log2(n^2 - n) at first for sequences of n
//   tokens; eps as in AlgoPerf's language model.
// Departs from the formula where the scale is exactly 0: its gradient is 0 there.
// Cost: 3 FLOPs per element of the queries and keys forward, 5 backward, and 6 and 10 per head. Keeps two elements of
//   the parameters' type per row and head, and one per row.
struct QueryKeyNorm {
  std::size_t heads = 1;
  double eps = 1e-6;
  Init init = Init::ones;

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const SharedTensor scale = net.tensor("scale", Kind::layer_norm_scale, {1}, init, 1, 1);
    return net(detail::QueryKeyNormOp{heads, eps, scale}, x);
  }
};

}  // namespace algoperf
