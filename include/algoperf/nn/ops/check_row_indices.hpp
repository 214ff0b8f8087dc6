#pragma once

#include "../graph/op.hpp"

namespace algoperf::detail {

// Reports an error unless a value is a field of indices of rows, on the axis `of` unless that is no_index.
template <class Net>
constexpr void check_row_indices(const Net& net, OpName own, const Value& x, GraphIndex of) {
  const GraphIndex indexed = net.graph().values[x.index].indexes_axis;
  net.check(indexed != no_index, own, "expected a field of indices of rows, which net.row_indices() declares");
  net.check(of == no_index || indexed == of, own, "the indices refer to the axis '", net.graph().axes[indexed].name,
            "', the indexed rows lie on '", net.graph().axes[of == no_index ? indexed : of].name,
            "', expected the same");
}

}  // namespace algoperf::detail
