#pragma once

#include <array>
#include <cstddef>

#include "check_alike.hpp"
#include "copy_columns.hpp"

namespace algoperf {

// Cuts rows along the last extent: {h, w, c} to {h, w, first} and {h, w, c - first}. 0 < first < c.
//   const auto [value, gate] = net(Split{.first = 64}, x);
// torch: split(dim=-1). Cost: 0 FLOPs; copies every element once each way.
struct Split {
  std::size_t first = 1;
  static constexpr const char* name = "split";

  template <class Net>
  constexpr std::array<Value, 2> output(const Net& net, OpName own, const std::array<Value, 1>& x) const {
    detail::check_activations(net, own, x[0]);
    const std::size_t width = detail::last_extent(x[0].shape);
    net.check(first > 0 && first < width, own, "first is ", first, ", expected at least 1 and less than the last ",
              "extent of the input's shape ", x[0].shape);
    return {part(x[0], first), part(x[0], width - first)};
  }
  constexpr OpTraits traits(const std::array<Value, 1>&) const {
    OpTraits traits;
    traits.decodes = true;
    traits.reads_inputs = 0;
    return traits;
  }
  template <class Net, class Tally>
  constexpr void count_forward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    const std::uint64_t n = net.rows(x[0]) * x[0].shape.size();
    tally.operation({"split", 0, n, n});
  }
  template <class Net, class Tally>
  constexpr void count_backward(const Net& net, const std::array<Value, 1>& x, Tally& tally) const {
    if (net.needs_gradient(x[0])) count_forward(net, x, tally);
  }

  template <class Call>
  void forward(const Call& call) const {
    const std::size_t width = detail::last_extent(call.in_shape(0)),
                      rows = call.rows(0) * (call.in_shape(0).size() / width);
    using Copy = detail::CopyColumns<typename Call::S>;
    call.pass.backend.for_each_row(rows, first, Copy{first, width, first, call.in(0), call.out(0)});
    const std::size_t rest = width - first;
    call.pass.backend.for_each_row(rows, rest, Copy{rest, width, rest, call.in(0) + first, call.out(1)});
  }
  template <class Call>
  void backward(const Call& call) const {
    if (call.d_in(0) == nullptr) return;
    const std::size_t width = detail::last_extent(call.in_shape(0)),
                      rows = call.rows(0) * (call.in_shape(0).size() / width);
    using Copy = detail::CopyColumns<typename Call::S>;
    call.pass.backend.for_each_row(rows, first, Copy{first, first, width, call.d_out(0), call.d_in(0)});
    const std::size_t rest = width - first;
    call.pass.backend.for_each_row(rows, rest, Copy{rest, rest, width, call.d_out(1), call.d_in(0) + first});
  }

 private:
  static constexpr Value part(Value x, std::size_t width) {
    if (x.shape.rank > 0) x.shape.extents[x.shape.rank - 1] = width;
    return x;
  }
};

}  // namespace algoperf
