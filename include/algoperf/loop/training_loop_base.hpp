// TrainingLoopBase: the part of a TrainingLoop (training_loop.hpp) that does not depend on the types of the model and
// the loss. Programs that train many models with one rule compile it once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../combine/all.hpp"
#include "../data/unlabelled.hpp"
#include "../schedules/concept.hpp"
#include "averaged_values.hpp"
#include "check_fields.hpp"
#include "check_options.hpp"
#include "explain_loop.hpp"
#include "function_observer.hpp"
#include "recordings.hpp"
#include "run.hpp"
#include "seed.hpp"
#include "settings.hpp"
#include "shared_evaluation.hpp"
#include "step_examples.hpp"
#include "stopwatch.hpp"
#include "training_context.hpp"

namespace algoperf {

template <class Rule, class Schedule, class Selector, class CombinerType, class BackendType>
class TrainingLoopBase {
 public:
  using Backend = BackendType;
  using Scalar = typename Backend::Scalar;
  using Context = TrainingContext<Rule, Backend>;
  static constexpr bool reacts_to_evaluations = detail::Reacts<Schedule, EvaluationReport>;

  // A loop is neither copied nor moved: recordings of its steps refer to its memory. A function may return one
  // (`return TrainingLoop(...)`); to store one, use std::optional::emplace or std::unique_ptr.
  TrainingLoopBase(const TrainingLoopBase&) = delete;
  TrainingLoopBase& operator=(const TrainingLoopBase&) = delete;

  // Trains until an observer stops the run; at least one must be able to. Continues where the last run ended. Throws
  // Diverged if a loss is not finite, unless the rule handles that. An observer may also be a function of a
  // const StepReport& or a const EvaluationReport&, called after each step or each evaluation, or of both; it returns
  // nothing, or a Control to stop the run.
  template <class Data, class... Observers>
  RunReport run(const Data& data, Observers&&... observers) {
    static_assert(detail::explain_data<Data>());
    return run_observed(data, detail::observer_of(observers)...);
  }

  // Executes one step, as run() does repeatedly.
  template <class Data>
  StepReport step(const Data& data) {
    advance(data);
    return settle();
  }

  // A step in two parts, so that the host can continue while a device executes the step: advance() issues the step, and
  // settle() waits for it and reads its loss, which is empty until then. Where losses are not deferred
  // (TrainingContext::defers), advance() executes the whole step. Either may throw Diverged.
  template <class Data>
  void advance(const Data& data) {
    static_assert(detail::explain_data<Data>());
    start(data);
    const Stopwatch watch;
    const Step now = step_after(last_.now.t);
    examples_.select(data, now);
    double loss = 0;
    const auto work = [&] {
      examples_.load(data, now, context_);
      examples_.prefetch(data, context_, [&] { return step_after(now.t); });
      loss = combiner_.advance(context_, combiner_state_);  // gradients, combination, update
    };
    if constexpr (!AsynchronousBackend<Backend>) {
      work();
    } else if (!context_.graph().is_ragged()) {
      context_.backend().replay(recording_, work);
    } else {
      examples_.stage(data, now, context_);  // first, because their sizes choose the recording
      if (context_.pads())
        context_.backend().replay(recordings_.of(context_.staged_sizes()), work);
      else
        work();
    }
    examples_.feedback(context_, combiner_, combiner_state_);
    if constexpr (!Context::defers) context_.backend().synchronize();
    last_ = {now, Context::defers ? std::nullopt : std::optional(loss),
             last_.examples + examples_.selection().indices.size(),
             last_.training_seconds + watch.seconds() - context_.gradient_norm().take_seconds(),
             context_.gradient_norm().take()};
  }
  const StepReport& settle() {
    if constexpr (Context::defers)
      if (!last_.loss) {
        const Stopwatch watch;
        last_.loss = context_.loss();
        last_.training_seconds += watch.seconds();
      }
    return last_;
  }
  void forget_divergence() { context_.forget_divergence(); }
  // Lets a device backend keep a copy of the data in its memory, if it fits, until release_data(). Until then, steps on
  // Prefetched data gather the next batch ahead. The caller must not change or free the data before release_data().
  // Copying counts as training time.
  template <class Data>
  void make_resident(const Data& data) {
    detail::check_fits(context_.graph(), data);
    const Stopwatch watch;
    context_.make_resident(data);
    examples_.start_prefetching(data, context_);
    if constexpr (Context::defers) last_.training_seconds += watch.seconds();
  }
  void release_data() {
    examples_.stop_prefetching();
    context_.release_data();
  }

  // Returns the mean training loss and the metric over a whole data set. This does not count as training time, except
  // for computing averaged parameters. Evaluates `batch` examples at a time; 0 selects the maximum number of examples
  // of one worker in training. All ranks must call it; they share the examples, and check their parameters.
  template <class Data, class Metric>
  EvaluationReport evaluate(const Data& data, const Metric& metric, std::size_t batch = 0) {
    static_assert(detail::explain_data<Data>());
    static_assert(detail::explain_metric<Metric, Data>());
    detail::check_labelled<Data>();
    settle();
    const Stopwatch training;
    const Scalar* const values = evaluation_values();
    if constexpr (Rule::has_evaluation_values) last_.training_seconds += training.seconds();
    const Stopwatch watch;
    const detail::LossAndMetric found =
        detail::SharedEvaluation(context_, values, batch == 0 ? context_.at_once() : batch)
            .evaluate(data, metric, steps());
    evaluation_seconds_ += watch.seconds();
    return {.step = last_.now.t,
            .loss = found.loss,
            .metric = found.metric,
            .metric_name = Metric::name,
            .lower_is_better = Metric::lower_is_better,
            .training_seconds = last_.training_seconds,
            .evaluation_seconds = evaluation_seconds_};
  }

  // Adds to the training clock what a caller did on behalf of the training algorithm, outside of the steps.
  void count_as_training(double seconds) { last_.training_seconds += seconds; }

  // Passes the result of an evaluation to a schedule that reacts to it (Plateau). run() calls this automatically.
  void feedback(const EvaluationReport& found) {
    if constexpr (reacts_to_evaluations) schedule_.feedback(found);
  }

  // Returns the outputs (logits) for every example of a data set, row by row, in host memory. Uses averaged parameters
  // if the rule averages. Counts neither as training nor as evaluation time.
  template <class Data>
  requires(Dataset<Data> || FieldDataset<Data>) std::vector<Scalar> predict(const Data& data, std::size_t batch = 0) {
    detail::check_fits(context_.graph(), data, false);
    const Scalar* const values = evaluation_values();
    return context_.evaluator().predict(data, values, batch == 0 ? context_.at_once() : batch);
  }
  // The same for inputs without labels: rows of the model's input shape.
  template <class T>
  std::vector<Scalar> predict(const std::vector<T>& inputs, std::size_t batch = 0) {
    const auto& model = context_.recorded_model();
    return predict(Unlabelled<T>(inputs, model.shape_of_example(model.field("input"))), batch);
  }

  // Prepares the selector for a data set. run() and step() call this automatically.
  template <class Data>
  void start(const Data& data) {
    detail::check_labelled<Data>();
    detail::check_fits(context_.graph(), data);
    examples_.start(data, context_.graph());
  }

  // Returns the ranks that train this model together.
  const Ranks& ranks() const { return context_.ranks(); }
  // Throws RankFailure unless all ranks have the same options, number of examples and parameters. run() calls it.
  ALGOPERF_COLD void meet_at_start() {
    if (!ranks().alone())
      detail::meet_at_start(
          ranks(), {steps(), seed_, examples_.selector().batch, context_.workers(), examples_.data_size(), options_},
          detail::values_of(context_));
  }
  // Sends the other ranks' parts of the state to rank 0, where the next visit() writes them. All ranks must call it.
  void gather_state() {
    if (!ranks().alone()) detail::gather_state(ranks(), combiner_, combiner_state_, rule_scope, steps());
  }

  // Makes each step report the norm of its gradient, before the rule clips or scales it: the 2-norm over all trained
  // parameters, and the root mean square of it where each worker has its own rule (of this rank). Measuring reads the
  // gradient once and does not count as training time. Where losses are deferred (TrainingContext::defers), steps
  // report none.
  void measure_gradient_norm(bool yes) { context_.gradient_norm().measure(yes); }

  // Makes Adasum measure how orthogonal the workers' gradients or updates are, at each step whose number `every`
  // divides; 0 stops it. All ranks must call it. orthogonality() returns the last measurement, for each tensor of
  // layout().tensors(), or nothing.
  void measure_orthogonality(std::uint64_t every) {
    require(every == 0 || context_.workers() * ranks().size() >= 2,
            "TrainingLoop: orthogonality needs at least 2 workers, but there is 1");
    combiner_.measure_orthogonality(combiner_state_, every);
  }
  const std::vector<double>& orthogonality() const { return combiner_.orthogonality(combiner_state_); }

  // Returns the warnings about the data that start() reported by warn() (core/warn.hpp).
  const std::vector<std::string>& warnings() const { return examples_.warnings(); }
  // Returns the report of the last step, with the current training time.
  const StepReport& last() const { return last_; }
  std::uint64_t steps() const { return last_.now.t; }
  // Returns the number of examples for which this loop has computed gradients, with repetition: second gradients (sam)
  // and the candidates of a line search count. Checkpoints do not keep it.
  std::uint64_t gradient_examples() const { return context_.gradient_examples(); }
  double training_seconds() const { return last_.training_seconds; }
  double evaluation_seconds() const { return evaluation_seconds_; }
  Settings settings() const { return {seed_, rule(), schedule_, combiner_}; }
  const Rule& rule() const { return context_.rule(); }
  const Layout& layout() const { return context_.layout(); }
  const Backend& backend() const { return context_.backend(); }
  const auto& recording() const { return recording_; }    // for asynchronous backends
  const auto& recordings() const { return recordings_; }  // the same where the model has ragged axes
  // Return the parameters, an arena in the backend's memory with layout(), or a single tensor of them by name.
  Scalar* values() { return context_.values(); }
  const Scalar* values() const { return context_.values(); }
  std::span<Scalar> values(const std::string& tensor) { return tensor_of(values(), tensor); }
  std::span<const Scalar> values(const std::string& tensor) const { return tensor_of(values(), tensor); }

  // Returns the parameters to evaluate with: values(), or their averages if the rule averages. The averages are valid
  // until the next step or call.
  const Scalar* evaluation_values() {
    return averaged_values_.compute(context_, combiner_.rule_state(combiner_state_));
  }

  template <class Archive>
  void visit(Archive& archive) {
    settle();
    archive.number("step", last_.now.t);
    archive.number("learning_rate", last_.now.learning_rate);
    archive.number("loss", *last_.loss);
    archive.number("examples", last_.examples);
    archive.number("training_seconds", last_.training_seconds);
    archive.number("evaluation_seconds", evaluation_seconds_);
    examples_.visit_options(archive);
    visit_scoped(archive, "schedule", schedule_);
    visit_scoped(archive, detail::values_scope, context_);
    if constexpr (Rule::has_evaluation_values) {
      const ArchiveScope scope(archive, detail::evaluation_values_scope);
      averaged_values_.visit(archive, context_, combiner_.rule_state(combiner_state_));
    }
    visit_scoped(archive, rule_scope, combiner_state_);
    examples_.visit(archive);
  }

 protected:
  ALGOPERF_COLD TrainingLoopBase(const ModelFunctionRef<Backend>& objective, const Rule& rule, const Schedule& schedule,
                                 const Selector& selector, const CombinerType& combiner, detail::Workers workers,
                                 const Backend& backend, Seed seed)
      : schedule_(schedule),
        examples_(selector),
        combiner_(combiner),
        context_(objective, rule, backend, workers.per_rank, std::move(workers.ranks), selector.batch,
                 RandomKey{seed.value}),
        combiner_state_(combiner_.state(context_)),
        averaged_values_(context_),
        seed_(seed.value),
        options_(workers.options) {}
  ~TrainingLoopBase() = default;

 private:
  static constexpr const char* rule_scope = "rule";

  Step step_after(std::uint64_t t) const { return {t + 1, schedule_(t)}; }
  template <class T>
  std::span<T> tensor_of(T* arena, const std::string& tensor) const {
    const TensorPlace place = layout().place_of(layout().find(tensor));
    return {arena + place.offset, place.size};
  }
  template <class Data, class... Observers>
  RunReport run_observed(const Data& data, Observers&&... observers) {
    return Run<TrainingLoopBase, Data, std::remove_reference_t<Observers>...>(*this, data, observers...)();
  }

  Schedule schedule_;
  detail::StepExamples<Selector, Backend> examples_;
  CombinerType combiner_;
  Context context_;
  typename CombinerType::template State<Context> combiner_state_;
  [[no_unique_address]] detail::AveragedValuesOf<Context> averaged_values_;
  std::uint64_t seed_, options_;
  StepReport last_;
  double evaluation_seconds_ = 0;
  [[no_unique_address]] detail::RecordingOf<Backend> recording_;
  [[no_unique_address]] detail::RecordingsOf<Backend> recordings_;
};

}  // namespace algoperf
