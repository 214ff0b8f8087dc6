#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/half.hpp"
#include "../../core/map_kernels.hpp"
#include "../../core/math.hpp"
#include "../../core/slots.hpp"
#include "../init.hpp"
#include "check_alike.hpp"

namespace algoperf {

namespace detail {

inline constexpr double one_over_softplus_of_0 = 1.4426950408889634;  // 1 / log(2)

// factor_c = softplus(s_d) / softplus(0), where column c is element d of a head.
template <class T>
struct DimFactors {
  std::size_t size;
  const T* s;
  T* factors;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t h) const {
    const T* const from = s;
    T* const to = factors + h * size;
    team.each(size, [=](std::size_t d) {
      const T softplus = math::max(from[d], T(0)) + math::log(T(1) + math::exp(-math::abs(from[d])));
      to[d] = T(one_over_softplus_of_0) * softplus;
    });
  }
};

// ds_d = factor'(s_d) times the sum over heads of the columns' sums of dy x.
template <class T>
struct DimGradient {
  std::size_t heads, size;
  const T *s, *of_columns;
  T* ds;
  bool adds;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t) const {
    const DimGradient a = *this;
    team.each(size, [=](std::size_t d) {
      T sum = 0;
      for (std::size_t h = 0; h < a.heads; ++h) sum += a.of_columns[h * a.size + d];
      const T slope = sum * T(one_over_softplus_of_0) * math::sigmoid(a.s[d]);
      a.ds[d] = a.adds ? a.ds[d] + slope : slope;
    });
  }
};

// dy x. column_sums() passes at least one element of a row for each column, which this kernel ignores.
struct ProductTerm {
  static constexpr std::size_t sums = 1;
  template <class T>
  ALGOPERF_HD Sums<T, 1> operator()(T dy, T x, T) const {
    return {{dy * x}};
  }
};

struct PerDimScaleOp {
  std::size_t heads = 1;
  SharedTensor s = {};  // {width / heads}
  static constexpr const char* name = "per_dim_scale";

  constexpr std::array<SharedTensor, 1> tensors() const { return {s}; }
  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    check_activations(net, own, x[0]);
    return {no_index, x[0].axis, x[0].shape, ElementType::activation};
  }
  constexpr OpTraits traits(const std::array<Value, 1>& x) const {
    OpTraits traits;
    traits.decodes = true;
    traits.example_scratch = 2 * x[0].shape.size();  // of the first example: factors, and sums over rows
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t width = x[0].shape.size(), n = net.rows(x[0]) * width;
    tally.operation({"per-dimension scale", n + factor_flops * width, n + width, n + width});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t width = x[0].shape.size(), n = net.rows(x[0]) * width, size = width / heads;
    tally.operation({"per-dimension scale, gradient", 2 * n + (factor_flops + 1) * width + 5 * size, 2 * n + 2 * width,
                     2 * width + size});
    if (net.needs_gradient(x[0])) tally.operation({"per-dimension scale, input gradient", n, n + width, n});
  }

  template <class Call>
  void forward(const Call& call) const {
    compute_factors(call);
    multiply(call, call.in(0), call.out());
  }
  template <class Call>
  void backward(const Call& call) const {
    using T = typename Call::Scalar;
    compute_factors(call);
    const std::size_t width = call.in_shape(0).size();
    T *const factors = call.example_scratch, *const sums = factors + width;
    if (T* const gradient = call.gradient(s)) {
      call.pass.backend.column_sums(ProductTerm{}, call.rows(0), width, {sums}, {call.d_out(), call.in(0)}, {factors});
      call.pass.backend.for_each_row(
          1, width, DimGradient<T>{heads, width / heads, call.value(s), sums, gradient, call.adds_to_tensor(0)});
    }
    if (call.d_in(0) != nullptr) multiply(call, call.d_out(), call.d_in(0));
  }

 private:
  static constexpr std::uint64_t factor_flops = 7;

  template <class Call>
  void compute_factors(const Call& call) const {
    const std::size_t size = call.in_shape(0).size() / heads;
    call.pass.backend.for_each_row(heads, 16 * size,
                                   DimFactors<typename Call::Scalar>{size, call.value(s), call.example_scratch});
  }
  template <class Call>
  static void multiply(const Call& call, const typename Call::S* from, typename Call::S* to) {
    const std::size_t width = call.in_shape(0).size(), rows = call.rows(0);
    if (from != to) call.pass.backend.copy(rows * width, from, to);
    call.pass.backend.map_rows(MultiplyBy{}, rows, width, to,
                               static_cast<const typename Call::Scalar*>(call.example_scratch));
  }
};

}  // namespace detail

// A block that multiplies the queries of attention by a trained positive factor for each element d of a head, which the
// heads share:
//   y_hd = x_hd softplus(s_d) / softplus(0),   softplus(s) = log(1 + exp(s))
// With s = 0, its initial value, the factors are 1. In single precision, they are 0 for s below -16.
// Shapes: in {width} on any axis, out the same; `s` {width / heads}. Hyperparameters: heads, which must divide the
//   width.
// Source: PerDimScale of Lingvo and Praxis, without their factor 1 / sqrt(width / heads), which Attention has; the
//   query scale of AlgoPerf's conformer.
// Cost: 1 FLOP per element forward, 3 backward.
struct PerDimScale {
  std::size_t heads = 1;

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    const std::size_t width = x.shape.size();
    net.check(heads > 0 && width % heads == 0, {}, "PerDimScale has heads ", heads,
              ", expected a divisor of the width, ", width);
    return net(detail::PerDimScaleOp{heads, net.tensor("s", Kind::weight, {width / heads}, Init::zeros)}, x);
  }
};

}  // namespace algoperf
