// Adds row i of a table to row i of each example, for ops that mark positions.
#pragma once

#include <cstddef>

#include "../../core/example_rows.hpp"
#include "../../core/half.hpp"
#include "../../core/map_kernels.hpp"

namespace algoperf::detail {

// y_r = x_r + table_i for row r, the i-th of its example.
template <class S>
struct AddTableRows {
  std::size_t width;
  ExampleRows rows;
  const Arithmetic<S>* table;
  const S* x;
  S* y;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t e) const {
    const AddTableRows a = *this;
    const std::size_t first = rows.begin(e) * width;
    team.each(rows.count(e) * width,
              [=](std::size_t k) { a.y[first + k] = S(Arithmetic<S>(a.x[first + k]) + a.table[k]); });
  }
};

// Return the place of the first row of each example, and the number of places of the longest example.
template <class Call>
std::size_t place_of_rows(const Call& call) {
  return call.decoding == nullptr ? 0 : call.decoding->sequences.place;
}
template <class Call>
std::size_t places(const Call& call) {
  return call.decoding == nullptr ? call.axis_of(0).longest : 1;
}

// The forward pass of an op with one input and one output of equal shape. The table has a row for each row of the
// longest example; in decoding, one for the place of all rows.
template <class Call>
void add_table_rows(const Call& call, const typename Call::Scalar* table) {
  const std::size_t width = call.in_shape(0).size(), n = call.rows(0) * width;
  const AxisRows& axis = call.axis_of(0);
  if (axis.rows.begins == nullptr || call.decoding != nullptr) {
    const std::size_t times = call.decoding != nullptr ? call.rows(0) : call.examples;
    if (call.out() != call.in(0)) call.pass.backend.copy(n, call.in(0), call.out());
    return call.pass.backend.map_rows(Add{}, times, n / times, call.out(), table);
  }
  call.pass.backend.for_each_row(call.examples, axis.longest * width,
                                 AddTableRows<typename Call::S>{width, axis.rows, table, call.in(0), call.out()});
}

// Its backward pass: dx = dy.
template <class Call>
void pass_gradient(const Call& call) {
  if (call.d_in(0) != nullptr && call.d_in(0) != call.d_out())
    call.pass.backend.copy(call.rows(0) * call.in_shape(0).size(), call.d_out(), call.d_in(0));
}

}  // namespace algoperf::detail
