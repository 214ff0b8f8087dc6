// Tuple: trivially copyable if its members are (std::tuple is not), so that it can be passed to a device as a kernel
// argument.
#pragma once

#include <cstddef>
#include <utility>

#include "config.hpp"

namespace algoperf {
namespace detail {

template <std::size_t I, class T>
struct TupleLeaf {
  T value;
};

template <class Indices, class... Ts>
struct TupleLeaves;

template <std::size_t... I, class... Ts>
struct TupleLeaves<std::index_sequence<I...>, Ts...> : TupleLeaf<I, Ts>... {};

template <std::size_t I, class T>
ALGOPERF_HD constexpr T& leaf(TupleLeaf<I, T>& l) {
  return l.value;
}

template <std::size_t I, class T>
ALGOPERF_HD constexpr const T& leaf(const TupleLeaf<I, T>& l) {
  return l.value;
}

template <std::size_t I, class T>
T element_type(const TupleLeaf<I, T>&);

}  // namespace detail

template <class... Ts>
struct Tuple : detail::TupleLeaves<std::index_sequence_for<Ts...>, Ts...> {
  static constexpr std::size_t size = sizeof...(Ts);
};

template <class... Ts>
ALGOPERF_HD constexpr Tuple<Ts...> tuple_of(const Ts&... values) {
  return {{{values}...}};
}

template <std::size_t I, class... Ts>
ALGOPERF_HD constexpr auto& get(Tuple<Ts...>& tuple) {
  return detail::leaf<I>(tuple);
}

template <std::size_t I, class... Ts>
ALGOPERF_HD constexpr const auto& get(const Tuple<Ts...>& tuple) {
  return detail::leaf<I>(tuple);
}

template <std::size_t I, class TupleType>
using TupleElement = decltype(detail::element_type<I>(std::declval<const TupleType&>()));

// A compile-time index passed as a value: for_each_index<3>([&](auto i) { get<i>(tuple); }). for_each_index is
// host-only.
template <std::size_t I>
struct Index {
  static constexpr std::size_t value = I;
  ALGOPERF_HD constexpr operator std::size_t() const { return I; }
};

template <std::size_t N, class F>
ALGOPERF_INLINE constexpr void for_each_index(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (f(Index<I>{}), ...); }
  (std::make_index_sequence<N>{});
}

}  // namespace algoperf
