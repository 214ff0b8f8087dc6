#pragma once

#include <array>
#include <cstddef>

#include "check_alike.hpp"
#include "copy_columns.hpp"

namespace algoperf {

// Joins its inputs along the last extent: {h, w, a} and {h, w, b} to {h, w, a + b}. They must agree in the axis and in
// all other extents. torch: cat(dim=-1). Cost: 0 FLOPs; copies every element once each way.
struct Concat {
  static constexpr const char* name = "concat";

  template <class Net, std::size_t N>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, N>& x) const {
    for (const Value& value : x) detail::check_activations(net, own, value);
    Value y = x[0];
    net.check(y.shape.rank > 0, own, "input 0 has rank 0, expected at least 1");
    for (std::size_t k = 1; k < N; ++k) {
      Shape expected = x[0].shape;
      expected.extents[expected.rank - 1] = detail::last_extent(x[k].shape);
      net.check(x[k].axis == x[0].axis && x[k].shape == expected, own, "inputs 0 and ", k, " have shapes ", x[0].shape,
                " on the axis '", net.axis_name(x[0]), "' and ", x[k].shape, " on '", net.axis_name(x[k]),
                "', expected the same axis and the same extents except the last");
      y.shape.extents[y.shape.rank - 1] += detail::last_extent(x[k].shape);
    }
    return y;
  }
  template <std::size_t N>
  constexpr OpTraits traits(const std::array<Value, N>&) const {
    OpTraits traits;
    traits.decodes = true;
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
    for_each_input(call, [&](std::size_t k, std::size_t rows, std::size_t width, std::size_t joined, std::size_t at) {
      call.pass.backend.for_each_row(
          rows, width, detail::CopyColumns<typename Call::S>{width, width, joined, call.in(k), call.out() + at});
    });
  }
  template <class Call>
  void backward(const Call& call) const {
    for_each_input(call, [&](std::size_t k, std::size_t rows, std::size_t width, std::size_t joined, std::size_t at) {
      if (call.d_in(k) == nullptr) return;
      call.pass.backend.for_each_row(rows, width,
                                     detail::CopyColumns<typename Call::S>{width, joined, width, call.d_out() + at,
                                                                           call.d_in(k), call.adds_to(k)});
    });
  }

 private:
  // Calls f(k, rows, width, joined, at) for each input: it is columns [at, at + width) of `joined`, in `rows` rows.
  template <class Call, class F>
  static void for_each_input(const Call& call, const F& f) {
    const std::size_t joined = detail::last_extent(call.out_shape());
    const std::size_t rows = call.out_rows() * (call.out_shape().size() / joined);
    std::size_t at = 0;
    for (std::size_t k = 0; k < call.inputs(); ++k) {
      const std::size_t width = detail::last_extent(call.in_shape(k));
      f(k, rows, width, joined, at);
      at += width;
    }
  }
};

}  // namespace algoperf
