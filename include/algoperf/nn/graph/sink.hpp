#pragma once

#include <array>
#include <cstddef>

#include "op.hpp"

namespace algoperf::detail {

// The base of sinks, which a recorder calls: declare() before it asks a layer for its sizes, which may be invalid, and
// the others after it has recorded a shared tensor, a layer, an op or a view.
struct NoSink {
  template <class Net, class L>
  constexpr void declare(const Net&, OpName, const L&, const Value&) const {}
  template <class Net>
  constexpr void tensor(const Net&, GraphIndex) const {}
  template <class Net, class L>
  constexpr void layer(const Net&, GraphIndex, const L&, const Value&) const {}
  template <class Net, class O, std::size_t N>
  constexpr void op(const Net&, GraphIndex, const O&, const std::array<Value, N>&) const {}
  template <class Net>
  constexpr void view(const Net&, GraphIndex) const {}
};

}  // namespace algoperf::detail
