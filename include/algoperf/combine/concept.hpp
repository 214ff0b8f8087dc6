// What combine/ is about. A Combiner owns the order of one training step: whose gradients are computed, how they become
// one, and when the rule steps. The loop has no flags for it.
//
// WorkerGroup   is_worker_group = true, workers
//               who takes part: InProcess{.workers = W} is W virtual workers, one after the other in this process.
//               Worker w learns from examples [w n / W, (w + 1) n / W) of a selection of n.
// Combiner      is_combiner = true
//               max_workers               optional: the most it can combine (SingleWorker: 1)
//               State<Context>            the rule's state, or one a worker
//               state(context)            a fresh State
//               advance(context, state)   one step; returns the loss, the weighted mean over the selection
//               rule_state(state)         the state that evaluation_values reads
//               gradient_squares(state)   GradientSquares of the last step, for selectors that listen: with
//                                         measures_gradients = true (MeasuredMean)
//
// The context a combiner is given:
//   Scalar, RuleState, has_evaluation_values, backend(), layout(), workers()
//   values()                         the parameters, an arena
//   gradients()                      an arena for the gradient in flight
//   examples(w)                      how many examples are worker w's; 0 if the batch is too small
//   share(w)                         the same as a fraction of all
//   gradient(w, values, gradients)   writes the mean gradient of worker w's examples (0 of none); returns their loss
//   make_rule_state()
//   step(gradients, values, rule_state, evaluate)
//                                    the rule; evaluate() recomputes `gradients` at `values`
#pragma once

#include <concepts>
#include <cstddef>

#include "../backend/concept.hpp"

namespace algoperf {

template <class C>
concept Combiner = requires {
  requires C::is_combiner;
};

template <class G>
concept WorkerGroup = requires(const G& group) {
  requires G::is_worker_group;
  { group.workers } -> std::convertible_to<std::size_t>;
};

}  // namespace algoperf
