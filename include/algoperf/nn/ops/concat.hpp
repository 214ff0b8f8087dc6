#pragma once

#include <array>
#include <cstddef>

#include "../graph/op.hpp"
#include "copy_columns.hpp"

namespace algoperf {

// Joins its inputs along the last extent: {h, w, a} and {h, w, b} to {h, w, a + b}. They must agree in the axis and in
// all other extents. torch: cat(dim=-1). Cost: 0 FLOPs; copies every element once each way.
struct Concat {
  static constexpr const char* name = "concat";

  template <class Net, std::size_t N>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, N>& x) const {
    Value y = x[0];
    net.check(y.shape.rank > 0, own, "input 0 has rank 0, expected at least 1");
    for (std::size_t k = 1; k < N; ++k) {
      Shape expected = x[0].shape;
      expected.extents[expected.rank - 1] = last(x[k].shape);
      net.check(x[k].axis == x[0].axis && x[k].shape == expected, own, "inputs 0 and ", k, " have shapes ", x[0].shape,
                " on the axis '", net.axis_name(x[0]), "' and ", x[k].shape, " on '", net.axis_name(x[k]),
                "', expected the same axis and the same extents except the last");
      y.shape.extents[y.shape.rank - 1] += last(x[k].shape);
    }
    return y;
  }
  template <std::size_t N>
  constexpr OpTraits traits(const std::array<Value, N>&) const {
    OpTraits traits;
    traits.reads_inputs = 0;
    traits.adds = true;
    return traits;
  }
  template <class Net, std::size_t N, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, N>& x, Tally& tally) const {
    std::uint64_t n = 0;
    for (const Value& value : x) n += net.rows(value) * value.shape.size();
    tally.operation({"concat", 0, n, n});
  }
  template <class Net, std::size_t N, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, N>& x, Tally& tally) const {
    std::uint64_t n = 0;
    for (const Value& value : x)
      if (net.needs_gradient(value)) n += net.rows(value) * value.shape.size();
    tally.operation({"concat, gradient", 0, n, n});
  }

  template <class Call>
  void forward(const Call& call) const {
    const std::size_t joined = last(call.out_shape());
    std::size_t at = 0;
    for (std::size_t k = 0; k < call.inputs(); ++k) {
      const std::size_t width = last(call.in_shape(k));
      call.pass.backend.for_each_row(
          rows(call), width, detail::CopyColumns<typename Call::S>{width, width, joined, call.in(k), call.out() + at});
      at += width;
    }
  }
  template <class Call>
  void backward(const Call& call) const {
    const std::size_t joined = last(call.out_shape());
    std::size_t at = 0;
    for (std::size_t k = 0; k < call.inputs(); ++k) {
      const std::size_t width = last(call.in_shape(k));
      if (call.d_in(k) != nullptr)
        call.pass.backend.for_each_row(rows(call), width,
                                       detail::CopyColumns<typename Call::S>{width, joined, width, call.d_out() + at,
                                                                             call.d_in(k), call.adds_to(k)});
      at += width;
    }
  }

 private:
  static constexpr std::size_t last(const Shape& shape) { return shape.rank == 0 ? 1 : shape[shape.rank - 1]; }
  template <class Call>
  static std::size_t rows(const Call& call) {
    return call.out_rows() * (call.out_shape().size() / last(call.out_shape()));
  }
};

}  // namespace algoperf
