// The concepts of combine/: WorkerGroup and Combiner. A Combiner controls one training step: which workers' gradients
// are computed, how they are combined, and when the rule steps. The loop has no options for this.
//
// WorkerGroup   is_worker_group = true
//               workers                   the number of workers
//               InProcess{.workers = W} is W virtual workers that run one after the other in this process. Worker w
//               trains on examples [w n / W, (w + 1) n / W) of a selection of n.
// Combiner      is_combiner = true
//               max_workers               optional: the maximum number of workers (SingleWorker: 1)
//               State<Context>            the rule's state, or one state per worker
//               state(context)            a fresh State
//               advance(context, state)   one step; returns the loss, the weighted mean over the selection (ignored if
//                                         the context defers losses)
//               rule_state(state)         the state that evaluation_values reads
//               gradient_squares(state)   GradientSquares of the last step, for selectors with gradient feedback;
//                                         requires measures_gradients = true (MeasuredMean)
//
// The context that is passed to a combiner:
//   Scalar, RuleState, has_evaluation_values, backend(), layout(), workers()
//   values()                         the parameters, an arena
//   gradients()                      an arena for the current gradient
//   examples(w)                      the number of worker w's examples; 0 if the batch is too small
//   share(w)                         worker w's fraction of the batch: of the rows that have a loss or, if the loss is
//                                    Weighted, of the sum of their weights
//   gradient(w, values, gradients)   writes the mean gradient of worker w's examples (0 if it has none); returns their
//                                    weighted mean loss, or 0 if losses are deferred
//   make_rule_state()                a fresh state of the rule
//   step(gradients, values, rule_state, evaluate)
//                                    runs the rule; evaluate() recomputes `gradients` at `values`
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
