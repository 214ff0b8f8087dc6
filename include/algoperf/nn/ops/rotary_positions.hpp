#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/example_rows.hpp"
#include "../../core/half.hpp"
#include "../../core/math.hpp"
#include "add_table_rows.hpp"
#include "check_alike.hpp"

namespace algoperf {

namespace detail {

// Row r of the table holds cos(a) and sin(a) of each pair's angle in turn, for row first + r of an example.
template <class T>
struct RotaryAngles {
  std::size_t size, first;
  double base;
  T* table;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
    const RotaryAngles a = *this;
    const std::size_t i = first + r;
    T* const row = table + r * size;
    team.each(size / 2, [=](std::size_t j) {
      const double exponent = -2 * static_cast<double>(j) / static_cast<double>(a.size);
      const double angle = static_cast<double>(i) * math::exp(exponent * math::log(a.base));
      row[2 * j] = static_cast<T>(math::cos(angle));
      row[2 * j + 1] = static_cast<T>(math::sin(angle));
    });
  }
};

// Rotates rows by their angles times `sign`. On a ragged axis, a call rotates all rows of one example, otherwise one
// row.
template <class S>
struct RotateRows {
  using T = Arithmetic<S>;
  ExampleRows rows;
  std::size_t width, columns, size;
  T sign;
  const T* table;
  const S* x;
  S* y;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t i) const {
    if (rows.begins == nullptr) return rotate(team, i, i % rows.each);
    for (std::size_t r = rows.begin(i); r < rows.end(i); ++r) rotate(team, r, r - rows.begin(i));
  }
  // Rotates row r, which has a position in its example.
  template <class Team>
  ALGOPERF_HD void rotate(const Team& team, std::size_t r, std::size_t position) const {
    const T* const angles = table + position * size;
    const T direction = sign;
    for (std::size_t head = 0; head < columns; head += size) {
      const S* const from = x + r * width + head;
      S* const to = y + r * width + head;
      team.each(size / 2, [=](std::size_t j) {
        const T c = angles[2 * j], s = direction * angles[2 * j + 1], a = from[2 * j], b = from[2 * j + 1];
        to[2 * j] = S(a * c - b * s);
        to[2 * j + 1] = S(a * s + b * c);
      });
    }
    if (x != y && columns < width) team.copy(width - columns, x + r * width + columns, y + r * width + columns);
  }
};

}  // namespace detail

// Rotary position embedding (RoPE): rotates each pair of neighbouring elements of a head, in row i of an example:
//   y_2j = x_2j cos(a) - x_2j+1 sin(a),   y_2j+1 = x_2j sin(a) + x_2j+1 cos(a),   a = i base^(-2j / size)
// Products of rotated queries and keys then depend on the difference of their positions only.
// Shapes: in {width} on an axis with several rows per example, out the same.
// Hyperparameters: size, the number of elements of a head, even; columns, the number of leading elements of a row that
//   are rotated, a multiple of `size`, 0 for all; base > 0.
//   net(RotaryPositions{.size = width / heads, .columns = 2 * width}, qkv);    // queries and keys, but not values
// Source: Su et al. 2021, arXiv:2104.09864, section 3.2.2. Many implementations pair element j with j + size / 2
//   instead.
// Cost: 3 FLOPs per rotated element each way. Keeps `size` elements of the parameters' type per row. Angles are
//   computed in double.
struct RotaryPositions {
  std::size_t size = 0;
  std::size_t columns = 0;
  double base = 10000;
  static constexpr const char* name = "rotary_positions";

  template <class Net>
  constexpr Value output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    detail::check_activations(net, own, x[0]);
    net.check(x[0].axis != examples_axis, own, "expected several rows per example, got shape ", x[0].shape,
              " on the axis '", net.axis_name(x[0]), "'");
    const std::size_t width = x[0].shape.size();
    net.check(size > 0 && size % 2 == 0, own, "size is ", size, ", expected an even number of at least 2");
    net.check(size > 0 && rotated(width) % size == 0 && columns <= width, own, "columns is ", rotated(width),
              ", expected a multiple of the size, ", size, ", of at most the width, ", width);
    net.check(base > 0, own, "base is not positive");
    return x[0];
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const {
    OpTraits traits;
    traits.reads_inputs = 0;
    traits.in_place = 0;
    traits.memory.exact = size;
    traits.decodes = true;
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]) * rotated(x[0].shape.size());
    tally.operation({"rotation", 3 * n, n + net.rows_per_example(x[0]) * size, n});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    if (net.needs_gradient(x[0])) count_forward(net, x, tally);
  }

  template <class Call>
  void forward(const Call& call) const {
    const std::size_t first = detail::place_of_rows(call);
    call.pass.backend.for_each_row(detail::places(call), 64 * size,
                                   detail::RotaryAngles<typename Call::Scalar>{size, first, base, call.pass.exact});
    rotate(call, 1, call.in(0), call.out());
  }
  template <class Call>
  void backward(const Call& call) const {
    if (call.d_in(0) != nullptr) rotate(call, -1, call.d_out(), call.d_in(0));
  }

 private:
  constexpr std::size_t rotated(std::size_t width) const { return columns == 0 ? width : columns; }
  template <class Call>
  void rotate(const Call& call, int sign, const typename Call::S* x, typename Call::S* y) const {
    using S = typename Call::S;
    const std::size_t width = call.in_shape(0).size();
    const AxisRows& axis = call.axis_of(0);
    const ExampleRows rows = call.decoding == nullptr ? axis.rows : ExampleRows{1};
    const bool ragged = rows.begins != nullptr;
    call.pass.backend.for_each_row(ragged ? call.examples : call.rows(0),
                                   2 * rotated(width) * (ragged ? axis.longest : 1),
                                   detail::RotateRows<S>{rows, width, rotated(width), size,
                                                         static_cast<Arithmetic<S>>(sign), call.pass.exact, x, y});
  }
};

}  // namespace algoperf
