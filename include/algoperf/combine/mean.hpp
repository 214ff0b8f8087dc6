#pragma once

#include "../core/config.hpp"
#include "../core/map_kernels.hpp"
#include "concept.hpp"

namespace algoperf {

namespace detail {

// Adds one worker's share of the loss. Compiled to a single copy, so that a step's loss has the same bits whether or
// not the combiner also measures gradients.
ALGOPERF_ONE_COPY inline double plus_share(double total, double share, double loss) { return total + share * loss; }

}  // namespace detail

// Synchronous data parallelism: g = sum over workers of share_w g_w, then one step, where share_w is worker w's
// fraction of the batch. Equivalent to one worker with all examples, up to rounding.
struct Mean {
  static constexpr bool is_combiner = true;

  template <class Context>
  struct State {
    typename Context::RuleState rule;
    typename Context::Array other;  // one worker's gradient
    template <class Archive>
    void visit(Archive& archive) {
      rule.visit(archive);
    }
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    const std::size_t n = context.workers() > 1 ? context.layout().size() : 0;
    return {context.make_rule_state(), context.backend().template array<typename Context::Scalar>(n)};
  }
  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    const double loss = gradient(context, state, [](std::size_t, const typename Context::Scalar*) {});
    step(context, state);
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rule;
  }

  // Writes the mean gradient to context.gradients() and returns the loss. Calls see(worker, gradient) with each
  // worker's gradient.
  template <class Context, class See>
  static double gradient(Context& context, State<Context>& state, const See& see) {
    using S = typename Context::Scalar;
    const std::size_t n = context.layout().size();
    double loss = detail::plus_share(0, context.share(0), context.gradient(0, context.values(), context.gradients()));
    see(0, static_cast<const S*>(context.gradients()));
    if (context.workers() > 1)
      context.backend().map(Multiply<S>{static_cast<S>(context.share(0))}, n, context.gradients());
    const S* const other = state.other.data();
    for (std::size_t w = 1; w < context.workers(); ++w) {
      loss = detail::plus_share(loss, context.share(w), context.gradient(w, context.values(), state.other.data()));
      see(w, other);
      context.backend().map(LinearCombination<S>{1, static_cast<S>(context.share(w))}, n, context.gradients(), other);
    }
    return loss;
  }
  // Runs the rule's step with the mean gradient.
  template <class Context>
  static void step(Context& context, State<Context>& state) {
    context.step(context.gradients(), context.values(), state.rule,
                 [&] { return gradient(context, state, [](std::size_t, const typename Context::Scalar*) {}); });
  }
};

}  // namespace algoperf
