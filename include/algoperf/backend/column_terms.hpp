// The terms that a backend's column_sums() adds: functors with the members
//   count        the number of sums
//   at<T>(i, c)  Sums<T, count>, the terms of the element in row r and column c of a matrix, where i = r cols + c. T is
//                S, or on the host a vector of S, for column c and those after it.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../core/config.hpp"
#include "../core/slots.hpp"

namespace algoperf {
namespace detail {

// Loads an S, converted from X, or a vector of S.
template <class T, class S, class X>
ALGOPERF_HD T load_as(const X* from) {
  if constexpr (std::is_same_v<T, S>)
    return static_cast<S>(*from);
  else
    return T::load(from);
}

struct Itself {
  template <class T>
  ALGOPERF_HD T operator()(T x) const {
    return x;
  }
};

// kernel(x[r][c])
template <class Kernel, class X, class S>
struct ElementTerms {
  static constexpr std::size_t count = 1;
  Kernel kernel;
  const X* x;

  template <class T>
  ALGOPERF_HD Sums<T, 1> at(std::size_t i, std::size_t) const {
    return {{kernel(load_as<T, S>(x + i))}};
  }
};

}  // namespace detail

// kernel(inputs[0][r][c], ..., of_columns[0][c], ...), which returns a Sums of Kernel::sums terms. The kernel is a
// template over T.
template <class Kernel, class X, class S, std::size_t inputs_size, std::size_t columns_size>
struct ColumnTerms {
  static constexpr std::size_t count = Kernel::sums;
  Kernel kernel;
  const X* inputs[inputs_size];
  const S* of_columns[columns_size];

  template <class T>
  ALGOPERF_HD Sums<T, count> at(std::size_t i, std::size_t c) const {
    return at<T>(i, c, std::make_index_sequence<inputs_size>{}, std::make_index_sequence<columns_size>{});
  }

 private:
  template <class T, std::size_t... I, std::size_t... J>
  ALGOPERF_HD Sums<T, count> at(std::size_t i, std::size_t c, std::index_sequence<I...>,
                                std::index_sequence<J...>) const {
    return kernel(detail::load_as<T, S>(inputs[I] + i)..., detail::load_as<T, S>(of_columns[J] + c)...);
  }
};

template <class Kernel, class X, class S, std::size_t inputs_size, std::size_t columns_size>
auto column_terms(const Kernel& kernel, const X* const (&inputs)[inputs_size],
                  const S* const (&of_columns)[columns_size]) {
  ColumnTerms<Kernel, X, S, inputs_size, columns_size> terms{kernel, {}, {}};
  for (std::size_t k = 0; k < inputs_size; ++k) terms.inputs[k] = inputs[k];
  for (std::size_t k = 0; k < columns_size; ++k) terms.of_columns[k] = of_columns[k];
  return terms;
}

}  // namespace algoperf
