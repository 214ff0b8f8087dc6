// TrainingContext: the data of a training step, i.e. parameters, gradients and the current batch, with the interface
// that combiners use (combine/concept.hpp). It is created once. A step allocates no memory, except inside matrix
// products and convolutions. Its type does not depend on the model's, so programs with many models compile it once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/layout.hpp"
#include "../core/math.hpp"
#include "../data/concept.hpp"
#include "../nn/init.hpp"
#include "../rules/concept.hpp"
#include "batch_executor.hpp"
#include "buffers.hpp"
#include "deferred_loss.hpp"
#include "diverged.hpp"
#include "divergence_cause.hpp"
#include "evaluation_sums.hpp"
#include "resident_data.hpp"
#include "step_losses.hpp"
#include "stopwatch.hpp"

namespace algoperf {

template <class Rule, class BackendType>
class TrainingContext {
 public:
  using Backend = BackendType;
  using Scalar = typename Backend::Scalar;
  using Activation = Stored<Backend>;
  using Array = typename Backend::template Array<Scalar>;
  using RuleState = typename Rule::template State<Backend>;
  static constexpr bool has_evaluation_values = Rule::has_evaluation_values;
  // Whether the rule handles gradients that are not finite.
  static constexpr bool handles_non_finite = requires { requires Rule::handles_non_finite; };
  // Whether a step's loss stays in the backend's memory until it is requested. Rules that request gradients themselves
  // or use the loss need it immediately, so it is not deferred for them.
  static constexpr bool defers = AsynchronousBackend<Backend> && detail::defers_on<Rule, Backend>();

  // objective: a model with its loss (nn/graph/objective.hpp).
  ALGOPERF_COLD TrainingContext(const ModelFunctionRef<Backend>& objective, const Rule& rule, const Backend& backend,
                                std::size_t workers, std::size_t capacity, RandomKey key)
      : rule_(rule),
        backend_(backend),
        workers_(workers),
        key_(key),
        recorded_(objective),
        work_(backend_, recorded_, capacity, (capacity + workers - 1) / workers),
        losses_(capacity, work_.losses_per_example(), workers),
        deferred_loss_(backend_),
        resident_(backend_, capacity) {
    std::size_t loss_ops = 0;
    for (const ModelGraph::Op& op : recorded_.graph().ops) loss_ops += op.loss;
    require(loss_ops == 1, "TrainingLoop: the model has losses of its own: ", loss_ops - 1, ", expected none");
    weights_field_ = work_.batch.fields();
    if (const Value* const weights = recorded_.loss_weights())
      weights_field_ = work_.batch.find(recorded_.graph().values[weights->index].field);
    Layout& layout = recorded_.layout();
    layout.arrange_for(rule_);
    require(layout.trained_size() > 0, "TrainingLoop: no tensor of the model is trained");
    values_ = backend_.template array<Scalar>(layout.size());
    gradients_ = backend_.template array<Scalar>(layout.size());
    weights_ = backend_.template array<Scalar>(capacity * work_.losses_per_example());
    if (recorded_.graph().has_buffers) buffers_.emplace(buffer_rule_.state(backend_, layout, layout.buffers()));
    std::vector<Scalar> first(layout.size());
    Initializer<Scalar> set(layout, first.data(), key.fold(0));
    recorded_.initialize(set);
    backend_.write(first.size(), first.data(), values_.data());
  }

  // The interface for combiners.
  const Backend& backend() const { return backend_; }
  const Layout& layout() const { return recorded_.layout(); }
  std::size_t workers() const { return workers_; }
  Scalar* values() { return values_.data(); }
  const Scalar* values() const { return values_.data(); }
  Scalar* gradients() { return gradients_.data(); }
  RuleState make_rule_state() const { return rule_.state(backend_, layout()); }
  std::size_t examples(std::size_t worker) const { return begin_of(worker + 1) - begin_of(worker); }
  // Returns a worker's part of the sum of a Weighted loss's weights, or of the number of examples.
  double share(std::size_t worker) const {
    if (workers_ == 1) return 1;
    const std::size_t size = work_.batch.size();
    if (loss_weights(work_) != nullptr) {
      const double all = sum_of_weights(work_, 0, size);
      return all > 0 ? sum_of_weights(work_, begin_of(worker), examples(worker)) / all : 0;
    }
    return static_cast<double>(examples(worker)) / static_cast<double>(size);
  }
  double gradient(std::size_t worker, const Scalar* values, Scalar* gradients) {
    const std::size_t begin = begin_of(worker), n = examples(worker);
    if (n == 0) {  // a batch smaller than the number of workers
      backend_.fill(layout().size(), gradients, Scalar(0));
      return 0;
    }
    gradient_examples_ += n;
    GraphExecutor<Backend>& executor = work_.executor_from(begin);
    GraphPass<Backend> pass;
    pass.values = values;
    pass.gradients = gradients;
    pass.examples = n;
    pass.key = pass_key();
    pass.first = begin;
    pass.weights = weights_.data() + begin * work_.losses_per_example();
    executor.forward(pass);
    executor.backward(pass);
    if constexpr (defers) return 0;  // loss() returns the batch's loss
    const double loss =
        losses_.record(backend_, worker, begin, n, work_.losses(begin), sum_of_weights(work_, begin, n));
    if constexpr (!handles_non_finite)
      if (!detail::finite_bits(loss)) diverged(now_.t, values, gradients);
    return loss;
  }
  template <class Evaluate>
  void step(Scalar* gradients, Scalar* values, RuleState& state, const Evaluate& evaluate) {
    if constexpr (defers)
      deferred_loss_.record(backend_, batch_losses(), weights_.data(), work_.losses(), loss_weights(work_), now_.t);
    else if (measures_gradient_norm_)
      add_gradient_norm(gradients);
    const auto step_unless = [&](const auto& guard) {
      using Guard = std::remove_cvref_t<decltype(guard)>;
      rule_.step(Update<Scalar, Evaluate, NoPorts, Guard>{gradients, values, evaluate, {}, guard}, state, now_);
      if (buffers_)
        buffer_rule_.step(Update<Scalar, NoEvaluate, NoPorts, Guard>{gradients, values, {}, {}, guard}, *buffers_,
                          {now_.t, 1});
    };
    if constexpr (defers && !handles_non_finite)
      step_unless(deferred_loss_.guard());
    else
      step_unless(NoGuard{});
  }

  // The interface for TrainingLoop.
  const Rule& rule() const { return rule_; }
  const RecordedModel<Backend>& recorded_model() const { return recorded_; }
  const ModelGraph& graph() const { return recorded_.graph(); }
  // Returns the number of elements of the model's output for one example.
  std::size_t output_size() const { return outputs_per_example() * recorded_.outputs().shape.size(); }
  std::size_t capacity() const { return work_.batch.capacity(); }
  std::size_t at_once() const { return work_.at_once(); }
  std::uint64_t gradient_examples() const { return gradient_examples_; }
  void measure_gradient_norm(bool yes) { measures_gradient_norm_ = yes; }
  // Return the root mean square, over the rules' steps since the last call, of the gradients' norms, if measured; and
  // the seconds that measuring took.
  std::optional<double> take_gradient_norm() {
    const std::size_t steps = std::exchange(measured_steps_, 0);
    if (steps == 0) return std::nullopt;
    return math::sqrt(std::exchange(gradient_squares_, 0) / static_cast<double>(steps));
  }
  double take_measuring_seconds() { return std::exchange(measuring_seconds_, 0); }
  // Keeps a copy of the training data in a device's memory until release_data(), if it fits with some memory to spare.
  template <class Data>
  void make_resident(const Data& data) {
    if constexpr (defers && !detail::RandomDataset<Data>) resident_.make(backend_, data, work_.batch);
  }
  void release_data() {
    if constexpr (defers) resident_.release();
  }

  // Throws Error if a selection of examples of `data` is invalid.
  template <class Data>
  void check(const Data& data, const Selection& selection) const {
    const std::size_t n = selection.indices.size(), size = data.size();
    require(n > 0 && n <= capacity() && selection.weights.size() == n, "TrainingLoop: the selector chose ", n,
            " examples and ", selection.weights.size(), " weights, expected the same number of each, 1 to ",
            capacity());
    for (const std::uint32_t index : selection.indices)
      require(index < size, "TrainingLoop: the selector chose example ", index, ", expected [0, ", size, ")");
  }
  // Copies a step's examples into the batch. Throws Error if the selection is invalid.
  template <class Data>
  void load(const Data& data, const Selection& selection, Step now) {
    check(data, selection);
    now_ = now;
    gather(data, selection.indices.data(), selection.indices.size());
    send_weights(selection);
  }
  // load() of the examples that another batch has staged; the two batches exchange memory.
  void load_staged(FieldBatch<Backend>& staged, const Selection& selection, Step now) {
    now_ = now;
    work_.batch.take_staged(staged);
    work_.batch.send(backend_);
    send_weights(selection);
  }
  // Returns the key of the random numbers of a step's transforms.
  RandomKey transforms_key(Step now) const { return key_.fold(2).fold(now.t); }
  // Whether steps gather the examples of `data` on the host.
  template <class Data>
  bool gathers_on_host(const Data& data) const {
    if constexpr (defers) return !resident_.holds(data);
    return true;
  }
  // Returns the losses of the examples loaded last, in host memory: the mean of each example's losses. If a rule
  // requested several gradients in the step, these are the losses at the parameters of each worker's first gradient.
  const std::vector<Scalar>& losses() {
    if constexpr (defers) backend_.read(batch_losses(), work_.losses(), losses_.first().data());
    return losses_.of_examples(work_.batch.size());
  }
  // Waits for the deferred loss of the last step, the batch's mean weighted loss, and returns it. Throws Diverged if it
  // or the loss of an earlier step was not finite, unless the rule handles that.
  double loss() {
    const double loss = deferred_loss_.read(backend_);
    if constexpr (!handles_non_finite)
      if (const std::uint64_t step = deferred_loss_.take_diverged(backend_); step != 0)
        diverged(step, values(), gradients());
    return loss;
  }
  // Evaluates examples [begin, begin + n).
  template <class Data, class Metric>
  void evaluate(const Data& data, const Metric& metric, const Scalar* values, std::size_t begin, std::size_t n,
                detail::EvaluationSums<Metric>& sums) {
    Work& work = work_for(n);
    work.batch.load_range(backend_, data, begin, n);
    GraphExecutor<Backend>& executor = work.executor_from(0);
    executor.forward(evaluation_pass(values, n));
    using Label = detail::LabelInMemory<Data, Scalar>;
    const std::size_t rows = n * work.losses_per_example(), width = recorded_.outputs().shape.size();
    const Activation* const outputs = executor.result(recorded_.outputs(), Mode::evaluate);
    const Label* const labels = static_cast<const Label*>(work.batch.data(work.batch.find("label")));
    const Scalar* const weights = loss_weights(work);
    Scalar* const losses = work.losses();
    const auto sum = [&] {
      return weights == nullptr ? backend_.sum(rows, static_cast<const Scalar*>(losses))
                                : backend_.dot(rows, static_cast<const Scalar*>(losses), weights);
    };
    sums.weight += sum_of_weights(work, 0, n);
    sums.loss += sum();
    if constexpr (AccumulatingMetric<Metric>) {
      const auto read_outputs = read_scalars(rows * width, outputs);
      const auto read_labels = read(rows * (std::is_same_v<Label, std::int32_t> ? 1 : width), labels);
      const auto read_weights = read(weights == nullptr ? 0 : rows, weights);
      metric.add(sums.state, EvaluatedRows<Scalar, Label>{rows, width, read_outputs.data(), read_labels.data(),
                                                          weights == nullptr ? nullptr : read_weights.data()});
    } else {
      metric.write(backend_, rows, width, outputs, labels, losses);
      sums.state += sum();
    }
  }
  // Writes the outputs of examples [begin, begin + n) to host memory, row by row.
  template <class Data>
  void predict(const Data& data, const Scalar* values, std::size_t begin, std::size_t n, Scalar* outputs) {
    const std::size_t count = n * output_size();
    Work& work = work_for(n);
    work.batch.load_range(backend_, data, begin, n, false);
    GraphExecutor<Backend>& executor = work.executor_from(0);
    executor.forward_to_outputs(evaluation_pass(values, n));
    const Activation* const from = executor.result(recorded_.outputs(), Mode::evaluate);
    if constexpr (std::is_same_v<Activation, Scalar>) {
      backend_.read(count, from, outputs);
    } else {
      const auto scalars = read_scalars(count, from);
      std::copy(scalars.begin(), scalars.end(), outputs);
    }
  }

  template <class Archive>
  void visit(Archive& archive) {
    visit(archive, values());
  }
  // Visits an arena with the layout of the parameters.
  template <class Archive>
  void visit(Archive& archive, Scalar* arena) {
    for (const TensorHandle handle : layout().tensors())
      archive.array(layout().spec(handle).name.c_str(), backend_, arena + layout().place_of(handle).offset,
                    layout().place_of(handle).size);
  }

 private:
  using Work = BatchExecutor<Backend>;
  using Buffers = typename detail::BufferUpdateRule::template State<Backend>;

  void add_gradient_norm(const Scalar* gradients) {
    backend_.synchronize();
    const Stopwatch watch;
    gradient_squares_ += backend_.dot(layout().trained_size(), gradients, gradients);
    ++measured_steps_;
    measuring_seconds_ += watch.seconds();
  }

  RandomKey pass_key() const { return key_.fold(1).fold(now_.t); }
  std::size_t begin_of(std::size_t worker) const { return worker * work_.batch.size() / workers_; }

  template <class Data>
  void gather(const Data& data, const std::uint32_t* indices, std::size_t n) {
    if constexpr (defers)
      if (resident_.holds(data)) return resident_.gather(backend_, indices, n, work_.batch);
    const RandomKey random = transforms_key(now_);
    work_.batch.gather(backend_, data, indices, n, {.random = &random});
  }

  void send_weights(const Selection& selection) {
    losses_.start(selection.weights);
    detail::send(backend_, batch_losses(), losses_.weights(), weights_.data());
  }

  // Return n elements of the backend's memory, and n activations as scalars.
  template <class T>
  std::vector<T> read(std::size_t n, const T* from) const {
    std::vector<T> values(n);
    if (n > 0) backend_.read(n, from, values.data());
    return values;
  }
  std::vector<Scalar> read_scalars(std::size_t n, const Activation* from) const {
    if constexpr (std::is_same_v<Activation, Scalar>) {
      return read(n, from);
    } else {
      const std::vector<Activation> stored = read(n, from);
      return {stored.begin(), stored.end()};
    }
  }

  // Returns the weights of a Weighted loss's rows from example `begin` on, or null.
  const Scalar* loss_weights(const Work& work, std::size_t begin = 0) const {
    if (weights_field_ == work.batch.fields()) return nullptr;
    return static_cast<const Scalar*>(work.batch.data(weights_field_, begin));
  }
  // Returns the sum of the weights of n examples' rows; without weights, the number of rows.
  double sum_of_weights(const Work& work, std::size_t begin, std::size_t n) const {
    const std::size_t rows = n * work.losses_per_example();
    const Scalar* const weights = loss_weights(work, begin);
    return weights == nullptr ? static_cast<double>(rows) : backend_.sum(rows, weights);
  }
  std::size_t outputs_per_example() const { return graph().axes[recorded_.outputs().axis].rows; }
  // Returns the number of losses of the current batch.
  std::size_t batch_losses() const { return work_.batch.size() * work_.losses_per_example(); }

  // Returns the memory in which to evaluate `n` examples: that of the training step if it is large enough, else memory
  // that is allocated for this purpose and kept.
  Work& work_for(std::size_t n) {
    if (n <= at_once()) return work_;
    ExecutorOptions options;
    options.training = false;
    if (!large_work_ || large_work_->at_once() < n) large_work_.emplace(backend_, recorded_, n, n, options);
    return *large_work_;
  }
  GraphPass<Backend> evaluation_pass(const Scalar* values, std::size_t n) const {
    GraphPass<Backend> pass;
    pass.values = values;
    pass.examples = n;
    pass.mode = Mode::evaluate;
    pass.key = pass_key();
    return pass;
  }

  [[noreturn]] void diverged(std::uint64_t step, const Scalar* values, const Scalar* gradients) const {
    const std::string noticed = step < now_.t ? ", detected at step " + std::to_string(now_.t) : "";
    Diverged error("training diverged at step " + std::to_string(step) + noticed + ": the loss is not finite; " +
                   detail::divergence_cause(backend_, layout(), values, gradients, work_.batch));
    error.step = step;
    throw error;
  }

  Rule rule_;
  Backend backend_;
  std::size_t workers_;
  RandomKey key_;
  RecordedModel<Backend> recorded_;
  Work work_;
  std::size_t weights_field_ = 0;  // of the batch; the number of fields if losses have no weights
  detail::StepLosses<Scalar> losses_;
  std::uint64_t gradient_examples_ = 0;
  bool measures_gradient_norm_ = false;
  std::size_t measured_steps_ = 0;
  double gradient_squares_ = 0, measuring_seconds_ = 0;
  using Deferred = std::conditional_t<defers, detail::DeferredLoss<Backend>, detail::NoDeferredLoss<Backend>>;
  [[no_unique_address]] Deferred deferred_loss_;
  using Resident = std::conditional_t<defers, ResidentCopy<Backend>, NoResidentCopy<Backend>>;
  [[no_unique_address]] Resident resident_;
  std::optional<Work> large_work_;
  Step now_;
  Array values_, gradients_, weights_;
  static constexpr detail::BufferUpdateRule buffer_rule_{detail::BufferUpdate{}};
  std::optional<Buffers> buffers_;
};

}  // namespace algoperf
