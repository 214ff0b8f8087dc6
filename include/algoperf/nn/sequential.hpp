// Sequential: applies layers in order. It is itself a layer, so it nests. A Model adds the input shape.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "../core/tuple.hpp"
#include "concept.hpp"
#include "graph/model_graph.hpp"
#include "init.hpp"

namespace algoperf {

namespace detail {

// How the layers of a Sequential share output arrays. in_place[i]: layer i writes its output over its input. read[i]:
// the backward pass reads the array that holds layer i's output, so no later layer may overwrite it.
template <std::size_t Count>
struct Sharing {
  bool in_place[Count] = {}, read[Count] = {};
};

// An in-place layer writes over its input, with two exceptions. The input of the Sequential belongs to the caller. An
// array that an earlier layer reads in backward must keep its values, so only a view may share it.
template <class... Layers>
constexpr auto sharing_of() {
  constexpr bool overwrites[] = {HasInPlace<Layers>...}, views[] = {HasView<Layers>...};
  constexpr bool reads[] = {reads_output<Layers>()...};
  Sharing<sizeof...(Layers)> sharing;
  for (std::size_t i = 0; i < sizeof...(Layers); ++i) {
    sharing.in_place[i] = i > 0 && overwrites[i] && (views[i] || !sharing.read[i - 1]);
    sharing.read[i] = reads[i] || (sharing.in_place[i] && sharing.read[i - 1]);
  }
  return sharing;
}

}  // namespace detail

template <class... Layers>
class Sequential {
  static constexpr std::size_t count = sizeof...(Layers);
  static_assert(count > 0, "algoperf: Sequential needs at least one layer");
  static_assert((detail::explain_layer<Layers>() && ...));
  template <std::size_t I>
  using LayerAt = TupleElement<I, Tuple<Layers...>>;
  static constexpr auto sharing = detail::sharing_of<Layers...>();

 public:
  static constexpr bool reads_output = sharing.read[count - 1];
  static constexpr bool has_buffers = (... || detail::HasBuffers<Layers>);
  static constexpr bool counts_memory = true;
  using Handles = Tuple<typename Layers::Handles...>;
  template <class S>
  using Input = LayerInput<LayerAt<0>, S>;

  constexpr explicit Sequential(const Layers&... layers) : layers_(tuple_of(layers...)) {}

  constexpr Shape output(Shape in) const { return shape_before(in, count); }
  constexpr std::size_t tokens() const requires(detail::HasTokens<LayerAt<0>>) { return get<0>(layers_).tokens(); }
  constexpr std::uint64_t parameters(Shape in) const {
    std::uint64_t total = 0;
    for_each_index<count>([&](auto i) { total += get<i>(layers_).parameters(shape_before(in, i)); });
    return total;
  }
  // keeps_output: whether this Sequential holds the memory of the last output, rather than the caller.
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally, bool keeps_output = false) const {
    for_each_index<count>([&](auto i) {
      const Shape before = shape_before(in, i);
      tally.hold(own_numbers<i>(before, keeps_output) * batch);
      get<i>(layers_).count_forward(before, batch, tally);
    });
  }
  // Reports each gradient as held from its first write to its last read, and each layer's memory as held until the end
  // of its backward pass.
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally,
                                bool keeps_output = false) const {
    std::uint64_t gradient = 0;  // size of the gradient that the next layer reads, or 0 if it is the caller's
    for_each_index<count>([&](auto from_end) {
      constexpr std::size_t i = count - 1 - from_end;
      const auto& layer = get<i>(layers_);
      const Shape before = shape_before(in, i);
      if (input_gradient || trains_before(in, i + 1)) {
        const bool wanted = input_gradient || trains_before(in, i);
        const std::uint64_t written = wanted && i > 0 && owns_output(i) ? before.size() * batch : 0;
        tally.hold(written);
        if constexpr (!detail::CountsMemory<LayerAt<i>>)
          tally.gradient(layer.parameters(before), detail::part_of(layer));
        layer.count_backward(before, batch, wanted, tally);
        if (owns_output(i)) {
          tally.release(gradient);
          gradient = written;
        }
      }
      tally.release(own_numbers<i>(before, keeps_output) * batch);
    });
  }
  // Returns the memory of all layers. The kept memory holds every output that is not in place, what each layer keeps,
  // and two arrays for gradients in the backward pass. The layers share the scratch.
  constexpr LayerMemory memory(Shape in) const {
    LayerMemory total;
    for_each_index<count>([&](auto i) {
      const LayerMemory own = get<i>(layers_).memory(shape_before(in, i));
      total.kept += own.kept + (owns_output(i) ? shape_before(in, i + 1).size() : 0);
      total.exact += own.exact;
      if (own.scratch > total.scratch) total.scratch = own.scratch;
      if (own.at_once > total.at_once) total.at_once = own.at_once;
    });
    total.kept += 2 * widest(in);
    return total;
  }

  Handles declare(Layout& layout, const std::string& name, Shape in) const {
    Handles handles;
    for_each_index<count>([&](auto i) {
      get<i>(handles) = get<i>(layers_).declare(layout, (name.empty() ? "" : name + ".") + std::to_string(i.value),
                                                shape_before(in, i));
    });
    return handles;
  }
  template <class S>
  void initialize(Initializer<S>& set, const Handles& handles, Shape in) const {
    for_each_index<count>([&](auto i) {
      if constexpr (detail::Initializes<LayerAt<i>, S>)
        get<i>(layers_).initialize(set, get<i>(handles), shape_before(in, i));
    });
  }

  // Records the layers as parts of a model function (nn/graph/op.hpp).
  template <class Net>
  constexpr Value operator()(Net& net, Value x) const {
    for_each_index<count>([&](auto i) { x = net(get<i>(layers_), x); });
    return x;
  }

  // Computes the output and returns a pointer to it, within call.kept.
  template <class B, class X>
  Stored<B>* forward(const LayerCall<B>& call, const Handles& handles, Shape in, const X* x) const {
    Cursor<B> at(call);
    return forward_from<0>(at, call, handles, in, x, static_cast<Stored<B>*>(nullptr));
  }
  template <class B, class X>
  void forward(const LayerCall<B>& call, const Handles& handles, Shape in, const X* x, Stored<B>* y) const {
    Cursor<B> at(call);
    forward_from<0>(at, call, handles, in, x, y);
  }
  template <class B, class X, class S>
  void backward(const LayerCall<B>& call, const Handles& handles, Shape in, const X* x, const S* y, const S* dy,
                S* dx) const {
    Cursor<B> at(call);
    backward_from<0>(at, call, handles, in, in, x, y, dy, dx);
  }

  constexpr const Tuple<Layers...>& layers() const { return layers_; }

 private:
  // Assigns memory to the layers in order. Forward and backward assign the same memory.
  template <class B>
  struct Cursor {
    Stored<B>* kept;
    typename B::Scalar* exact;
    explicit Cursor(const LayerCall<B>& call) : kept(call.kept), exact(call.exact) {}
    Stored<B>* take(std::size_t n) { return std::exchange(kept, kept + n); }
    LayerCall<B> layer(const LayerCall<B>& call, const LayerMemory& memory, std::size_t index) {
      LayerCall<B> own = call;
      own.kept = take(memory.kept * call.capacity);
      own.exact = std::exchange(exact, exact + memory.exact * call.capacity);
      own.key = call.key.fold(index);
      return own;
    }
  };

  template <std::size_t I>
  static constexpr bool in_place = sharing.in_place[I];
  static constexpr bool owns_output(std::size_t i) { return !sharing.in_place[i]; }

  // Returns whether one of the first `layers` layers has parameters, so that the backward pass must reach it.
  constexpr bool trains_before(Shape in, std::size_t layers) const {
    bool trains = false;
    for_each_index<count>(
        [&](auto i) { trains = trains || (i < layers && get<i>(layers_).parameters(shape_before(in, i)) > 0); });
    return trains;
  }
  // Returns the number of elements that layer I holds per example: its output, unless it is written in place, and the
  // memory that the layer keeps.
  template <std::size_t I>
  constexpr std::uint64_t own_numbers(Shape before, bool keeps_output) const {
    std::uint64_t numbers = 0;
    if (owns_output(I) && (!rest_in_place<I + 1>() || keeps_output)) numbers += get<I>(layers_).output(before).size();
    if constexpr (!detail::CountsMemory<LayerAt<I>>) {
      const LayerMemory memory = get<I>(layers_).memory(before);
      numbers += memory.kept + memory.exact;
    }
    return numbers;
  }
  constexpr Shape shape_before(Shape in, std::size_t layer) const {
    for_each_index<count>([&](auto i) {
      if (i < layer) in = get<i>(layers_).output(in);
    });
    return in;
  }
  constexpr std::size_t widest(Shape in) const {
    std::size_t most = 0;
    for (std::size_t i = 1; i < count; ++i)
      if (shape_before(in, i).size() > most) most = shape_before(in, i).size();
    return most;
  }
  // Returns whether layers I, I + 1, ... all run in place, so that layer I - 1's output array holds the last output.
  template <std::size_t I>
  static constexpr bool rest_in_place() {
    for (std::size_t i = I; i < count; ++i)
      if (!sharing.in_place[i]) return false;
    return true;
  }

  // Returns where layer I writes its output: its input x if it runs in place, the caller's y if it is the last layer
  // that does not run in place, else kept memory.
  template <std::size_t I, class B, class X>
  Stored<B>* output_of(Cursor<B>& at, const LayerCall<B>& call, Shape in, X* x, Stored<B>* y) const {
    if constexpr (in_place<I>) {
      return x;
    } else {
      auto* const own = at.take(get<I>(layers_).output(in).size() * call.capacity);
      return rest_in_place<I + 1>() && y != nullptr ? y : own;
    }
  }

  // Returns the array of the gradient of layer I's output: one of two arrays at the end of `kept`, used in turn. An
  // in-place layer uses the same array for the gradients of its input and output.
  template <std::size_t I, class B>
  Stored<B>* gradient_of(const LayerCall<B>& call, Shape whole_input) const {
    std::size_t turn = 0;
    for (std::size_t i = I + 1; i < count; ++i) turn += owns_output(i);
    const std::size_t width = widest(whole_input);
    return call.kept + (memory(whole_input).kept - (1 + turn % 2) * width) * call.capacity;
  }

  template <std::size_t I, class B, class X>
  Stored<B>* forward_from(Cursor<B>& at, const LayerCall<B>& call, const Handles& handles, Shape in, X* x,
                          Stored<B>* y) const {
    auto* const out = output_of<I>(at, call, in, x, y);
    const auto own = at.layer(call, get<I>(layers_).memory(in), I);
    get<I>(layers_).forward(own, get<I>(handles), in, x, out);
    if constexpr (I + 1 < count)
      return forward_from<I + 1>(at, call, handles, get<I>(layers_).output(in), out, y);
    else
      return out;
  }

  // Recurses from the first layer to the last to locate each layer's memory. Each call runs its layer's backward pass
  // after the recursion returns.
  template <std::size_t I, class B, class X, class S>
  void backward_from(Cursor<B>& at, const LayerCall<B>& call, const Handles& handles, Shape whole_input, Shape in,
                     const X* x, const S* y, const S* dy, S* dx) const {
    S* const out = output_of<I>(at, call, in, const_cast<X*>(x), const_cast<S*>(y));
    const auto own = at.layer(call, get<I>(layers_).memory(in), I);
    if constexpr (I + 1 == count) {
      get<I>(layers_).backward(own, get<I>(handles), in, x, static_cast<const S*>(out), dy, dx);
    } else {
      const Shape next = get<I>(layers_).output(in);
      const bool wanted = dx != nullptr || trains_before(whole_input, I + 1);
      S* const d_out = wanted ? gradient_of<I>(call, whole_input) : nullptr;
      backward_from<I + 1>(at, call, handles, whole_input, next, static_cast<const S*>(out), y, dy, d_out);
      if (!wanted) return;
      get<I>(layers_).backward(own, get<I>(handles), in, x, static_cast<const S*>(out), static_cast<const S*>(d_out),
                               dx);
    }
  }

  Tuple<Layers...> layers_;
};

}  // namespace algoperf
