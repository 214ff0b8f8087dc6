// ModelBuffers: the update of a model's buffers, tensors that rules do not receive (core/tensor_spec.hpp). A layer's
// backward writes, as the gradient of a buffer, the amount to subtract (nn/concept.hpp). A step subtracts it where it
// is finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "../core/layout.hpp"
#include "../core/math.hpp"
#include "../rules/chain/chain.hpp"

namespace algoperf::detail {

struct BufferUpdate {
  static constexpr bool applies_learning_rate = true;  // update() passes 1

  struct Kernel {
    static constexpr std::size_t slots = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T, Slots<T, 0>&) const {
      return math::select<T>(u - u == T(0), -u, T(0));
    }
  };
  template <class S>
  ALGOPERF_HD Kernel at(Step) const {
    return {};
  }
};

template <class Backend>
class ModelBuffers {
  using Scalar = typename Backend::Scalar;
  using Rule = Chain<BufferUpdate>;

 public:
  void initialize(const Backend& backend, const Layout& layout) {
    state_.emplace(Rule(BufferUpdate{}).state(backend, layout, layout.buffers()));
  }
  // Updates the buffers of an arena of parameters at step t. Does nothing before initialize().
  template <class Guard>
  void update(Scalar* gradients, Scalar* values, const Guard& guard, std::uint64_t t) {
    if (!state_) return;
    const Rule rule{BufferUpdate{}};
    rule.step(Update<Scalar, NoEvaluate, NoPorts, Guard>{gradients, values, {}, {}, guard}, *state_, {t, 1});
  }

 private:
  std::optional<typename Rule::template State<Backend>> state_;
};

}  // namespace algoperf::detail
