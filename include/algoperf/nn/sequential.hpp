#pragma once

#include <cstddef>

#include "../core/tuple.hpp"
#include "graph/recorder.hpp"

namespace algoperf {

// Parts applied in order: layers, and blocks of one input. Parts are named "0", "1", and so on. A Model adds the shape
// of the input.
template <class... Parts>
class Sequential {
  static_assert(sizeof...(Parts) > 0, "algoperf: Sequential needs at least one layer");
  static_assert((detail::explain_model_part<Parts>() && ...));

 public:
  static constexpr bool reads_tokens = detail::reads_tokens<TupleElement<0, Tuple<Parts...>>>();
  static constexpr bool has_buffers = (... || detail::may_have_buffers<Parts>());

  constexpr explicit Sequential(const Parts&... parts) : parts_(tuple_of(parts...)) {}

  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    for_each_index<sizeof...(Parts)>([&](auto i) { x = net(get<i>(parts_), x); });
    return x;
  }

  constexpr const Tuple<Parts...>& parts() const { return parts_; }

 private:
  Tuple<Parts...> parts_;
};

}  // namespace algoperf
