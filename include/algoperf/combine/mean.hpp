#pragma once

#include <cstddef>
#include <vector>

#include "../core/map_kernels.hpp"
#include "over_ranks.hpp"

namespace algoperf {

namespace detail {

// Replaces this rank's mean gradient by that of all ranks, weighted by their parts of the batch. Returns the mean of
// their losses. With one worker per rank, the bits are those of Mean with as many workers in one process.
template <class Context, class Backend, class S>
double mean_over_ranks(Context& context, ArrayBlocks<Backend>& blocks, S* gradient, double loss) {
  if (context.ranks().alone()) return loss;
  const std::vector<Ranks::Note> notes = context.meet(Meeting::gradient, context.weight(), loss);
  const double weight = sum_of_weights(notes);
  sum_over_ranks(context, blocks, gradient,
                 [&](std::size_t r) { return static_cast<S>(weight > 0 ? notes[r].weight / weight : 0); });
  return mean_loss(notes, weight);
}

}  // namespace detail

// Synchronous data parallelism: g = sum over workers of share_w g_w, then one step, where share_w is worker w's
// fraction of the batch. Equivalent to one worker with all examples, up to rounding.
struct Mean {
  static constexpr bool is_combiner = true, over_ranks = true;

  template <class Context>
  struct State {
    typename Context::RuleState rule;
    typename Context::Array other;  // one worker's gradient
    ArrayBlocks<typename Context::Backend> blocks;
    template <class Archive>
    void visit(Archive& archive) {
      rule.visit(archive);
    }
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    const std::size_t n = context.workers() > 1 ? context.layout().size() : 0;
    return {context.make_rule_state(),
            context.backend().template array<typename Context::Scalar>(n),
            {context.backend(), context.ranks(), context.layout(), 1}};
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
  // worker's gradient; on several ranks, with those of this rank.
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
    return detail::mean_over_ranks(context, state.blocks, context.gradients(), loss);
  }
  // Runs the rule's step with the mean gradient.
  template <class Context>
  static void step(Context& context, State<Context>& state) {
    context.step(context.gradients(), context.values(), state.rule,
                 [&] { return gradient(context, state, [](std::size_t, const typename Context::Scalar*) {}); });
  }
};

}  // namespace algoperf
