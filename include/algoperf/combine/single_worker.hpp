#pragma once

#include "concept.hpp"

namespace algoperf {

// One worker: computes the gradient and runs the rule's step.
struct SingleWorker {
  static constexpr bool is_combiner = true;
  static constexpr std::size_t max_workers = 1;

  template <class Context>
  struct State {
    typename Context::RuleState rule;
    template <class Archive>
    void visit(Archive& archive) {
      rule.visit(archive);
    }
  };

  template <class Context>
  State<Context> state(const Context& context) const {
    return {context.make_rule_state()};
  }
  template <class Context>
  double advance(Context& context, State<Context>& state) const {
    const auto gradient = [&] { return context.gradient(0, context.values(), context.gradients()); };
    const double loss = gradient();
    context.step(context.gradients(), context.values(), state.rule, gradient);
    return loss;
  }
  template <class Context>
  auto& rule_state(State<Context>& state) const {
    return state.rule;
  }
};

}  // namespace algoperf
