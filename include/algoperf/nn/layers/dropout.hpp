#pragma once

#include <type_traits>

#include "../../core/math.hpp"
#include "../concept.hpp"

namespace algoperf {

// Dropout: in training each element is dropped independently with probability `rate`: y = 0 if dropped, else
// y = x / (1 - rate). In evaluation y = x. In place. rate in [0, 1).
// The choice of dropped elements depends only on the pass's key and on the example's index in the step's batch. So it
// is the same on every backend, with any number of workers or threads, when a step computes the gradient twice (sam),
// and after resuming from a checkpoint.
// Source: Srivastava et al. 2014, scaled in training as torch does. Cost: 1 FLOP per element each in forward and
// backward, and ten rounds of Philox per four elements, in both passes because no mask is stored.
struct Dropout {
  static constexpr bool in_place = true;
  static constexpr bool reads_output = false;
  double rate = 0.5;

  struct Handles {};

  constexpr Shape output(Shape in) const { return in; }
  constexpr std::uint64_t parameters(Shape) const { return 0; }
  template <class Tally>
  constexpr void count_forward(Shape in, std::uint64_t batch, Tally& tally) const {
    const std::uint64_t n = batch * in.size();
    tally.operation({"dropout", n, n, n});
  }
  template <class Tally>
  constexpr void count_backward(Shape in, std::uint64_t batch, bool input_gradient, Tally& tally) const {
    if (input_gradient) count_forward(in, batch, tally);
  }
  constexpr LayerMemory memory(Shape) const { return {}; }
  Handles declare(Layout&, const std::string& name, Shape) const {
    require(rate >= 0 && rate < 1, name, ": Dropout has rate ", rate, ", expected [0, 1)");
    return {};
  }

  // to = scale * from where kept, else 0; one example per row.
  template <class S>
  struct Drop {
    std::size_t width, first;
    RandomKey key;
    std::uint32_t threshold;  // an element is dropped if its random word is below this
    Arithmetic<S> scale;
    const S* from;
    S* to;

    template <class Team>
    ALGOPERF_HD void operator()(const Team& team, std::size_t r) const {
      const Drop self = *this;
      team.each_random(key, first + r, width, [self, r](std::size_t begin, auto count, const std::uint32_t* words) {
        const S* const x = self.from + r * self.width + begin;
        S* const y = self.to + r * self.width + begin;
        // g++ compiles a condition to a branch, which processors often mispredict. It vectorises a mask.
        using Bits = std::conditional_t<sizeof(Arithmetic<S>) == 4, std::uint32_t, std::uint64_t>;
        for (std::size_t j = 0; j < count; ++j) {
          const Bits mask = Bits(0) - Bits(words[j] >= self.threshold);
          y[j] = S(__builtin_bit_cast(Arithmetic<S>, __builtin_bit_cast(Bits, self.scale * x[j]) & mask));
        }
      });
    }
  };

  template <class B, class S>
  void forward(const LayerCall<B>& call, Handles, Shape in, const S* x, S* y) const {
    if (call.mode == Mode::train)
      drop(call, in.size(), x, y);
    else if (x != y)
      call.backend.copy(call.batch * in.size(), x, y);
  }
  template <class B, class S>
  void backward(const LayerCall<B>& call, Handles, Shape in, const S*, const S*, const S* dy, S* dx) const {
    if (dx != nullptr) forward(call, Handles{}, in, dy, dx);
  }

 private:
  template <class B, class S>
  void drop(const LayerCall<B>& call, std::size_t width, const S* from, S* to) const {
    const auto threshold = static_cast<std::uint32_t>(rate * 0x1p32);
    call.backend.for_each_row(
        call.batch, 8 * width,
        Drop<S>{width, call.first, call.key, threshold, static_cast<Arithmetic<S>>(1 / (1 - rate)), from, to});
  }
};

}  // namespace algoperf
