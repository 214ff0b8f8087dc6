// Submission: a training algorithm that runs on any workload, from a point of its hyperparameters.
//
//   name                          static constexpr const char*: in tables and folders
//   search_space()                the space that is searched unless the study has another one
//   rule(point, facts)            the update rule
//   schedule(point, facts)        the schedule of the learning rate
//   batch_size(facts)             optional: examples per step; by default the workload's, facts.batch_size
//   selector(point, facts, seed)  optional: the data selector, with the batch size; by default ShuffledEpochs
//   combiner(point, facts)        optional: how the gradients of facts.workers workers are combined (combine/); without
//                                 it, there is one worker
//   default_point()               optional: the point under the self-tuning ruleset; by default, the first point of the
//                                 search space if that is a list, and otherwise its centre
//   widest_space()                optional: ranges that a search never leaves when it widens the search space
//                                 (batch_size/batch_size_scaling.hpp)
//   observer(point, facts)        optional: an object for one trial, with any of
//     after_step(loop, clock)         -> void, or a Control to end the trial
//     before_evaluation(loop, clock)  -> void
//
// All members are const. The time that an observer takes counts as training. Averaged parameters need no observer:
// evaluations use those of the rule (WeightAverage, schedule-free rules).
// Source: Dahl et al. 2023, section 4.2; AlgoPerf's submission API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "../core/layout.hpp"
#include "../data/selectors/shuffled_epochs.hpp"
#include "../loop/report.hpp"
#include "../nn/graph/layout_of.hpp"
#include "../nn/losses/mean_absolute_error.hpp"
#include "../nn/losses/mean_squared_error.hpp"
#include "../nn/losses/sigmoid_cross_entropy.hpp"
#include "../nn/losses/softmax_cross_entropy.hpp"
#include "search_space.hpp"

namespace algoperf {

enum class LossKind { softmax_cross_entropy, sigmoid_cross_entropy, mean_squared_error, mean_absolute_error, other };

// Of a loss, or of one that derives from it, such as Weighted<Loss>.
template <class Loss>
inline constexpr LossKind loss_kind = std::is_base_of_v<SoftmaxCrossEntropy, Loss>   ? LossKind::softmax_cross_entropy
                                      : std::is_base_of_v<SigmoidCrossEntropy, Loss> ? LossKind::sigmoid_cross_entropy
                                      : std::is_base_of_v<MeanSquaredError, Loss>    ? LossKind::mean_squared_error
                                      : std::is_base_of_v<MeanAbsoluteError, Loss>   ? LossKind::mean_absolute_error
                                                                                     : LossKind::other;

// What a submission may know of a workload.
struct WorkloadFacts {
  std::string name;
  std::uint64_t step_hint = 0;  // the steps in which a tuned algorithm should reach the target, at `batch_size`
  std::size_t batch_size = 128;
  std::size_t workers = 1;   // that share a batch
  std::size_t examples = 0;  // of training data
  LossKind loss = LossKind::other;
  Layout layout = Layout();  // names, shapes and kinds of the parameters
};

// The state of a trial's clock, for a submission's observer.
struct TrialClock {
  StepReport step;  // the last step; its loss may be empty
  std::uint64_t steps_left = 0;
  double seconds_left = std::numeric_limits<double>::infinity();
  // In after_step, whether an evaluation follows the next step; in before_evaluation, true.
  bool evaluation_next = false;
};

namespace detail {

template <class S>
concept HasBatchSize = requires(const S& s, const WorkloadFacts& facts) {
  s.batch_size(facts);
};
template <class S>
concept HasSelector = requires(const S& s, const HyperPoint& point, const WorkloadFacts& facts) {
  s.selector(point, facts, std::uint64_t{});
};
template <class S>
concept HasCombiner = requires(const S& s, const HyperPoint& point, const WorkloadFacts& facts) {
  s.combiner(point, facts);
};
template <class S>
concept HasObserver = requires(const S& s, const HyperPoint& point, const WorkloadFacts& facts) {
  s.observer(point, facts);
};

}  // namespace detail

template <class S>
concept Submission = requires(const S& s, const HyperPoint& point, const WorkloadFacts& facts) {
  std::string(S::name);
  { s.search_space() } -> std::same_as<SearchSpace>;
  s.rule(point, facts);
  s.schedule(point, facts);
};

namespace detail {

template <class S>
consteval bool explain_submission() {
  static_assert(Submission<S>,
                "algoperf: a submission has a static name, search_space(), rule(point, facts) and "
                "schedule(point, facts): see tuning/submission.hpp");
  return true;
}

}  // namespace detail

namespace detail {

// Returns the ranges that a widened search never leaves, or none.
template <class S>
std::vector<Hyperparameter> widest_space_of(const S& submission) {
  if constexpr (requires { submission.widest_space(); })
    return submission.widest_space();
  else
    return {};
}

}  // namespace detail

// Returns the examples per step to which a workload's step_hint() refers.
template <class W>
std::size_t batch_size_of(const W& workload) {
  if constexpr (requires { workload.batch_size(); })
    return workload.batch_size();
  else
    return WorkloadFacts{}.batch_size;
}

// Returns the facts of a workload.
template <class W>
WorkloadFacts facts_of(const W& workload) {
  WorkloadFacts facts{.name = workload.name,
                      .step_hint = workload.step_hint(),
                      .batch_size = batch_size_of(workload),
                      .examples = workload.train().size(),
                      .loss = loss_kind<std::remove_cvref_t<decltype(workload.loss())>>};
  facts.layout = layout_of(workload.model());
  return facts;
}

}  // namespace algoperf
