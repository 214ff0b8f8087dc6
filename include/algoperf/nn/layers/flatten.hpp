#pragma once

#include "../concept.hpp"

namespace algoperf {

// Flattens an example of any shape to one row: in {...}, out {in.size()}. It is a view: it has no parameters and does
// no work, except that as the first or last layer of a Sequential it copies the row. Dense needs no Flatten before it.
struct Flatten {
  static constexpr bool in_place = true;
  static constexpr bool view = true;
  struct Handles {};

  constexpr Shape output(Shape in) const { return {in.size()}; }
  constexpr std::uint64_t parameters(Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(Shape, std::uint64_t, Tally&) const {}
  template <class Tally>
  constexpr void count_backward(Shape, std::uint64_t, bool, Tally&) const {}
  constexpr LayerMemory memory(Shape) const { return {}; }
  Handles declare(Layout&, const std::string&, Shape) const { return {}; }

  template <class B, class S>
  void forward(const LayerCall<B>& call, Handles, Shape in, const S* x, S* y) const {
    if (y != x) call.backend.copy(call.batch * in.size(), x, y);
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, Handles, Shape in, const S*, const S*, const S* dy, S* dx) const {
    if (dx != nullptr && dx != dy) call.backend.copy(call.batch * in.size(), dy, dx);
  }
};

}  // namespace algoperf
