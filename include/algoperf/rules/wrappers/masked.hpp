// masked(stage, where): the stage, applied only to the tensors that `where` accepts. For all others u is unchanged.
//   chain(Adam{}, masked(DecayedWeights{.rate = 0.1}, decayable), Descend{})
// Tensors are grouped by the result of `where`, so the cost is one test per pass, not one per element.
#pragma once

#include <type_traits>

#include "../../core/options.hpp"
#include "../../core/tensor_spec.hpp"
#include "../concept.hpp"

namespace algoperf {

// The stage itself, with a predicate for the tensors it acts on.
template <class Stage, class Where>
struct Masked : Stage {
  static_assert(!detail::is_matrix<Stage>,
                "algoperf: a matrix stage cannot be masked: select its tensors with partition(...)");
  static_assert(!detail::ScalesByLearningRate<Stage>,
                "algoperf: Descend cannot be masked: the excluded tensors would move uphill by the whole gradient");
  using Wrapped = Stage;
  Where where;

  constexpr Masked(const Stage& stage, const Where& w) : Stage(stage), where(w) {}
  template <class F>
  void visit_options(F& f) const {
    detail::visit_options(static_cast<const Stage&>(*this), f);
  }
  bool includes(const TensorSpec& spec) const {
    if constexpr (detail::HasMask<Stage>)
      return Stage::includes(spec) && where(spec);
    else
      return where(spec);
  }
};

template <class Stage, class Where>
constexpr auto masked(const Stage& stage, const Where& where) {
  static_assert(
      requires(const TensorSpec& spec) { static_cast<bool>(where(spec)); },
      "algoperf: masked(stage, where) needs `bool where(const TensorSpec&)`, e.g. decayable");
  if constexpr (detail::explain_stage<Stage>()) return Masked<Stage, std::decay_t<const Where>>(stage, where);
}

}  // namespace algoperf
