// changing_step: a step of a worker with parameters of its own, and the change that it sends to the others.
#pragma once

#include <cstddef>

#include "../../core/map_kernels.hpp"

namespace algoperf::detail {

// Applies the rule to `own` with context.gradients(), and writes the change: what the step has taken away from `own`.
// Tensors that are not trained, such as the running averages of batch norm, change by 1 / workers of what the step
// changes. gradient() computes context.gradients() again.
template <class Context, class RuleState, class Gradient>
void changing_step(Context& context, RuleState& rule, typename Context::Scalar* own, typename Context::Scalar* change,
                   std::size_t workers, const Gradient& gradient) {
  using S = typename Context::Scalar;
  const auto& backend = context.backend();
  const std::size_t n = context.layout().size(), trained = context.layout().trained_size(), rest = n - trained;
  backend.copy(n, static_cast<const S*>(own), change);
  context.step(context.gradients(), own, rule, gradient);
  backend.map(Subtract{}, n, change, static_cast<const S*>(own));
  if (rest == 0 || workers == 1) return;
  backend.map(Add{}, rest, own + trained, static_cast<const S*>(change + trained));
  backend.map(Multiply<S>{S(1) / static_cast<S>(workers)}, rest, change + trained);
  backend.map(Subtract{}, rest, own + trained, static_cast<const S*>(change + trained));
}

}  // namespace algoperf::detail
