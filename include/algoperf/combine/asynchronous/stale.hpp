#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/map_kernels.hpp"

namespace algoperf {

// What a server does with a gradient whose delay exceeds the number of workers that compute at the same time, tau_C:
// apply it, apply it multiplied by tau_C / delay, or drop it.
enum class Stale { apply, shrink, drop };

namespace detail {

// Applies the gradient in context.gradients() to context.values() by the rule, and the share 1 / bound of changes of
// buffers, where bound is tau_C. Returns whether it was applied. `evaluate` recomputes the gradient.
template <class Context, class RuleState, class Evaluate>
bool apply_stale(Context& context, RuleState& rule, Stale stale, std::uint64_t delay, std::uint64_t bound,
                 const Evaluate& evaluate) {
  using S = typename Context::Scalar;
  if (delay > bound && stale == Stale::drop) return false;
  const std::size_t n = context.layout().size(), trained = context.layout().trained_size();
  if (delay > bound && stale == Stale::shrink) {
    const double factor = static_cast<double>(bound) / static_cast<double>(delay);
    context.backend().map(Multiply<S>{static_cast<S>(factor)}, trained, context.gradients());
  }
  if (bound > 1 && trained < n)
    context.backend().map(Multiply<S>{S(1) / static_cast<S>(bound)}, n - trained, context.gradients() + trained);
  context.step(context.gradients(), context.values(), rule, evaluate);
  return true;
}

}  // namespace detail

}  // namespace algoperf
