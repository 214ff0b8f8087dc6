// The concepts of combine/: WorkerGroup and Combiner. A Combiner controls one training step: which workers' gradients
// are computed, how they are combined, and when the rule steps. The loop has no options for this.
//
// WorkerGroup   is_worker_group = true
//               workers                   the number of workers of each rank
//               connect()                 optional: returns a Communicator made by `new`, or null for a single rank
//               A group has R ranks, each with W workers that run one after the other. Worker w of rank r trains on
//               examples [v n / (R W), (v + 1) n / (R W)) of a selection of n, with v = r W + w.
// Combiner      is_combiner = true
//               max_workers               optional: the maximum number of workers of all ranks (SingleWorker: 1)
//               over_ranks                optional: true if it combines the gradients of several ranks
//               State<Context>            the rule's state, or one state per worker of the rank
//               state(context)            a fresh State
//               advance(context, state)   one step; returns the loss, the weighted mean over the selection (ignored if
//                                         the context defers losses), the same on all ranks
//               rule_state(state)         the state that evaluation_values reads
//               gradient_squares(state)   GradientSquares of the last step, for selectors with gradient feedback;
//                                         requires measures_gradients = true (MeasuredMean)
//               part_of_state(state, scope), take_parts(state, others)
//                                         optional, if ranks have different states: the entries of this rank in a
//                                         checkpoint's scope; rank 0 receives those of the others before it saves
//
// The context that is passed to a combiner:
//   Backend, Scalar, RuleState, has_evaluation_values, backend(), layout(), workers(), ranks()
//   t()                              the number of the step, from 1
//   values()                         the parameters, an arena, the same on all ranks
//   gradients()                      an arena for the current gradient
//   examples(w)                      the number of worker w's examples; 0 if the batch is too small
//   share(w)                         worker w's fraction of the rank's examples: of the rows that have a loss or, if
//                                    the loss is Weighted, of the sum of their weights
//   weight()                         the number of these rows, or the sum of their weights, of all workers of the rank
//   gradient(w, values, gradients)   writes the mean gradient of worker w's examples (0 if it has none); returns their
//                                    weighted mean loss, or 0 if losses are deferred
//   meet(meeting, weight, loss)      sends the step, a weight and a loss to all ranks, and returns every rank's. Call
//                                    it before ranks exchange arrays, because it throws on all ranks if one has failed.
//                                    With Meeting::gradient, call it after gradient() of all workers: it also adds
//                                    deferred losses over the ranks
//   make_rule_state()                a fresh state of the rule
//   step(gradients, values, rule_state, evaluate)
//                                    runs the rule; evaluate() recomputes `gradients` at `values`
//   add_to_values(update)            values += update, unless a device suppresses the step because a loss is not finite
// For combiners that run passes of their own (loop/measured_examples.hpp):
//   recorded_model(), capacity()     the model, and the most examples of the rank
//   bind_fields(executor)            lets a GraphExecutor read the rank's batch
//   pass_over(begin, n, values, gradients)   the arguments of a training pass over n of its examples
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
