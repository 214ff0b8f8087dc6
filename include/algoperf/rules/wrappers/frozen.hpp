// frozen(): a rule that does not change its tensors, for a part of a partition. Its state is only the step
// count, and a step reads and writes no parameters:
//   partition(Named{"0."}, frozen(), otherwise, adamw())
// The gradients of these tensors are still computed, and stages before the partition still process them. To avoid
// computing the gradients of whole layers, use nn/stop_gradient.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../../core/layout.hpp"
#include "../chain/own_memory.hpp"
#include "../concept.hpp"

namespace algoperf {

template <class Backend>
struct FrozenState {
  Backend backend;
  Layout of;
  std::vector<Region> regions;
  std::uint64_t steps = 0;

  std::uint64_t t() const { return steps; }
  void recount(std::uint64_t t) { steps = t; }
  const Layout& layout() const { return of; }
  template <class Archive>
  void visit(Archive& archive) {
    archive.number("t", steps);
  }
};

struct Frozen {
  static constexpr bool stores_updates = false;
  static constexpr bool has_evaluation_values = false;
  template <class Backend>
  using State = FrozenState<Backend>;

  void check() const {}
  void group(const TensorSpec&, GroupKey&) const {}
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout) const {
    return state(backend, layout, layout.regions_for(*this));
  }
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout, std::vector<Region> regions) const {
    return {backend, layout, std::move(regions)};
  }
  static constexpr bool counts_on_device = true;
  template <class Backend, class Evaluate, class Ports, class Guard>
  void step(const Update<typename Backend::Scalar, Evaluate, Ports, Guard>&, State<Backend>& state, Step now) const {
    if constexpr (!Guard::counts) state.steps = now.t;
  }
  template <class Backend>
  void step(std::span<typename Backend::Scalar> gradients, std::span<typename Backend::Scalar> values,
            State<Backend>& state, Step now) const {
    detail::check_own_memory(gradients.size(), values.size(), state.layout());
    state.steps = now.t;
  }
  template <class Backend>
  void evaluation_values(const typename Backend::Scalar* values, State<Backend>& state,
                         typename Backend::Scalar* out) const {
    for (const Region& region : state.regions)
      state.backend.copy(region.size(), values + region.begin, out + region.begin);
  }
};

constexpr Frozen frozen() { return {}; }

}  // namespace algoperf
