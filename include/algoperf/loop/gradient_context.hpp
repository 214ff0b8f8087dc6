// GradientContext: the part of a training step that does not depend on the update rule: the parameters, the current
// batch, and its losses and gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../combine/group/ranks.hpp"
#include "../core/error.hpp"
#include "../core/layout.hpp"
#include "../core/math.hpp"
#include "../data/concept.hpp"
#include "../nn/init.hpp"
#include "../rules/concept.hpp"
#include "buffers.hpp"
#include "deferred_loss.hpp"
#include "diverged.hpp"
#include "divergence_cause.hpp"
#include "evaluator.hpp"
#include "loop_ranks.hpp"
#include "resident_data.hpp"
#include "selection_range.hpp"
#include "step_losses.hpp"
#include "stopwatch.hpp"

namespace algoperf {

// defer_losses: whether a step's loss stays in the backend's memory until it is requested.
// Long members are defined outside of the class, so that algoperf::gemm can contain them (compiled.hpp).
template <class BackendType, bool defer_losses>
class GradientContext {
 public:
  using Backend = BackendType;
  using Scalar = typename Backend::Scalar;
  using Array = typename Backend::template Array<Scalar>;
  using Divergence = Diverged;  // for combiners, which do not include loop/
  static constexpr bool defers = defer_losses;

  GradientContext(const GradientContext&) = delete;
  GradientContext& operator=(const GradientContext&) = delete;

  // The interface for combiners.
  const Backend& backend() const { return evaluator_.backend(); }
  const Layout& layout() const { return recorded_model().layout(); }
  std::size_t workers() const { return workers_; }
  const Ranks& ranks() const { return ranks_; }
  std::uint64_t t() const { return now_.t; }
  Scalar* values() { return values_.data(); }
  const Scalar* values() const { return values_.data(); }
  Scalar* gradients() { return gradients_.data(); }
  std::size_t examples(std::size_t worker) const { return begin_of(worker + 1) - begin_of(worker); }
  // Returns a worker's part of the sum of a Weighted loss's weights, or of the number of losses, of this rank's
  // examples. weight() returns that sum or number.
  double share(std::size_t worker) const;
  double weight() const;
  // Meets the other ranks at this step. Throws Diverged on all ranks if the loss of one is not finite.
  std::vector<Ranks::Note> meet(Meeting at, double weight, double loss) const;

  // The interface for TrainingLoop.
  const RecordedModel<Backend>& recorded_model() const { return evaluator_.model(); }
  const ModelGraph& graph() const { return evaluator_.graph(); }
  // Evaluates and predicts at any parameters.
  Evaluator<Backend>& evaluator() { return evaluator_; }
  // Returns the maximum number of this rank's examples.
  std::size_t capacity() const { return batch().capacity(); }
  std::size_t at_once() const { return evaluator_.work().at_once(); }
  std::uint64_t gradient_examples() const { return gradient_examples_; }
  void measure_gradient_norm(bool yes) { measures_gradient_norm_ = yes; }
  // Return the root mean square, over the rules' steps since the last call, of the gradients' norms, if measured; and
  // the seconds that measuring took.
  std::optional<double> take_gradient_norm();
  double take_measuring_seconds() { return std::exchange(measuring_seconds_, 0); }
  // Keeps a copy of the training data in a device's memory until release_data(), if it fits with some memory to spare.
  template <class Data>
  void make_resident(const Data& data) {
    if constexpr (defers && !detail::RandomDataset<Data>)
      if (!graph().is_ragged()) resident_.make(backend(), data, batch());
  }
  void release_data() {
    if constexpr (defers) resident_.release();
  }

  // Throws Error if a selection of examples from `size` is invalid.
  void check(std::size_t size, const Selection& selection) const;
  // Returns this rank's part of a selection.
  SelectionRange part_of(const Selection& selection) const {
    const std::size_t n = selection.indices.size(), begin = begin_of(0, n);
    return {selection.indices.data() + begin, selection.weights.data() + begin, begin_of(workers_, n) - begin};
  }
  // Copies this rank's part of a step's examples into the batch. Throws Error if the selection is invalid.
  template <class Data>
  void load(const Data& data, const Selection& selection, Step now) {
    if constexpr (defers)
      if (resident_.holds(data)) {
        check(data.size(), selection);
        now_ = now;
        const SelectionRange part = part_of(selection);
        resident_.gather(backend(), part.indices, part.size, batch());
        return start(selection);
      }
    stage(data, selection, now);
    load_staged(selection);
  }
  // load() in two parts, of which the first is done on the host: gathers the examples, or takes those that another
  // batch has gathered, in exchange for memory; then sends them to the backend.
  template <class Data>
  void stage(const Data& data, const Selection& selection, Step now) {
    check(data.size(), selection);
    now_ = now;
    const RandomKey random = transforms_key(now_);
    const SelectionRange part = part_of(selection);
    batch().stage(data, part.indices, part.size, {.random = &random, .pad = pads_, .on_all_threads = true});
  }
  void take_staged(FieldBatch<Backend>& staged, Step now) {
    now_ = now;
    batch().take_staged(staged);
  }
  void load_staged(const Selection& selection) {
    batch().send(backend());
    start(selection);
  }
  // Whether batches are padded (FieldBatch): on a device if the model has ragged axes, unless batch norm would see the
  // padding, or the batch is split over several workers. staged_sizes() then has few different values.
  bool pads() const { return pads_; }
  const std::vector<std::size_t>& staged_sizes() { return batch().staged_sizes(); }
  // Returns the key of the random numbers of a step's transforms, which number the examples of each rank from 0.
  RandomKey transforms_key(Step now) const {
    const RandomKey key = key_.fold(2).fold(now.t);
    return ranks_.alone() ? key : key.fold(ranks_.rank());
  }
  // Whether steps gather the examples of `data` on the host.
  template <class Data>
  bool gathers_on_host(const Data& data) const {
    if constexpr (defers) return !resident_.holds(data);
    return true;
  }
  // Returns the losses of the examples loaded last, in host memory: the mean of each example's losses. If a rule
  // requested several gradients in the step, these are the losses at the parameters of each worker's first gradient.
  // Ranks gather the losses of all ranks.
  const std::vector<Scalar>& losses();

  template <class Archive>
  void visit(Archive& archive) {
    visit(archive, values());
  }
  // Visits an arena with the layout of the parameters.
  template <class Archive>
  void visit(Archive& archive, Scalar* arena) {
    for (const TensorHandle handle : layout().tensors())
      archive.array(layout().spec(handle).name.c_str(), backend(), arena + layout().place_of(handle).offset,
                    layout().place_of(handle).size);
  }

 protected:
  // objective: a model with its loss (nn/graph/objective.hpp). Before use, arrange the layout for the rule and call
  // initialize().
  // workers: of this rank. capacity: the maximum size of a selection.
  GradientContext(const ModelFunctionRef<Backend>& objective, const Backend& backend, std::size_t workers, Ranks ranks,
                  std::size_t capacity, RandomKey key);
  ~GradientContext();

  Layout& mutable_layout() { return evaluator_.model().layout(); }
  // Allocates parameters and gradients, and draws the initial values.
  void initialize();
  // Computes the gradient of a worker's examples. Returns their loss, or 0 if losses are deferred.
  double compute_gradient(std::size_t worker, const Scalar* values, Scalar* gradients);
  // Updates the buffers, which rules do not receive, from their gradients.
  template <class Guard>
  void update_buffers(Scalar* gradients, Scalar* values, const Guard& guard);
  // Adds the norm of a gradient to take_gradient_norm().
  void add_gradient_norm(const Scalar* gradients);
  // Computes the deferred loss of the current step, if losses are deferred.
  void record_loss() {
    if constexpr (defers)
      deferred_loss_.record(backend(), padded_losses(), weights_.data(), work().losses(),
                            evaluator_.loss_weights(work()), now_.t);
  }
  [[noreturn]] void diverged(std::uint64_t step, const Scalar* values, const Scalar* gradients) const;

  Step now_;
  bool measures_gradient_norm_ = false;
  using Deferred = std::conditional_t<defers, detail::DeferredLoss<Backend>, detail::NoDeferredLoss<Backend>>;
  [[no_unique_address]] Deferred deferred_loss_;

 private:
  using Buffers = typename detail::BufferUpdateRule::template State<Backend>;

  BatchExecutor<Backend>& work() { return evaluator_.work(); }
  const BatchExecutor<Backend>& work() const { return evaluator_.work(); }
  FieldBatch<Backend>& batch() { return work().batch; }
  const FieldBatch<Backend>& batch() const { return work().batch; }
  // Returns where a worker's examples begin in a selection of n, for this rank's workers [0, workers()].
  std::size_t begin_of(std::size_t worker, std::size_t n) const {
    return (ranks_.rank() * workers_ + worker) * n / (ranks_.size() * workers_);
  }
  // The same in this rank's batch.
  std::size_t begin_of(std::size_t worker) const { return begin_of(worker, selected_) - begin_of(0, selected_); }
  // Return the number of losses of the current batch, without and with those of padding.
  std::size_t batch_losses() const { return work().loss_rows().begin(batch().size()); }
  std::size_t padded_losses() const { return work().loss_rows().begin(batch().padded_size()); }

  void start(const Selection& selection);
  // Returns the largest of `parts` parts of n examples.
  static std::size_t per_part(std::size_t n, std::size_t parts) { return (n + parts - 1) / parts; }

  Ranks ranks_;
  Evaluator<Backend> evaluator_;
  std::size_t workers_, largest_selection_, selected_ = 0;
  std::uint64_t selection_ = 0;  // a hash, on several ranks
  bool pads_;
  RandomKey key_;
  detail::StepLosses<Scalar> losses_;
  std::uint64_t gradient_examples_ = 0;
  std::size_t measured_steps_ = 0;
  double gradient_squares_ = 0, measuring_seconds_ = 0;
  using Resident = std::conditional_t<defers, ResidentCopy<Backend>, NoResidentCopy<Backend>>;
  [[no_unique_address]] Resident resident_;
  std::vector<Scalar> losses_of_all_;  // ranks
  Array values_, gradients_, weights_;
  std::optional<Buffers> buffers_;
};

template <class Backend, bool defers>
ALGOPERF_COLD GradientContext<Backend, defers>::GradientContext(const ModelFunctionRef<Backend>& objective,
                                                                const Backend& backend, std::size_t workers,
                                                                Ranks ranks, std::size_t capacity, RandomKey key)
    : deferred_loss_(backend),
      ranks_(std::move(ranks)),
      evaluator_(backend, objective, per_part(capacity, ranks_.size()), per_part(capacity, ranks_.size() * workers)),
      workers_(workers),
      largest_selection_(capacity),
      pads_(AsynchronousBackend<Backend> && graph().is_ragged() && !graph().has_buffers && workers == 1),
      key_(key),
      losses_(workers),
      resident_(backend, capacity) {
  require(Backend::on_host || ranks_.alone(), "TrainingLoop: a group of several ranks needs the backend Host");
  std::size_t losses = 0;
  for (const ModelGraph::Op& op : graph().ops) losses += op.loss;
  require(losses == 1, "TrainingLoop: the model and its loss record ", losses, " losses, expected one");
}

template <class Backend, bool defers>
GradientContext<Backend, defers>::~GradientContext() = default;

template <class Backend, bool defers>
ALGOPERF_COLD void GradientContext<Backend, defers>::initialize() {
  const std::size_t size = layout().size();
  require(layout().trained_size() > 0, "TrainingLoop: no tensor of the model is trained");
  values_ = backend().template array<Scalar>(size);
  gradients_ = backend().template array<Scalar>(size);
  if (graph().has_buffers)
    buffers_.emplace(detail::BufferUpdateRule(detail::BufferUpdate{}).state(backend(), layout(), layout().buffers()));
  std::vector<Scalar> first(size);
  Initializer<Scalar> set(layout(), first.data(), key_.fold(0));
  recorded_model().initialize(set);
  backend().write(size, first.data(), values_.data());
}

template <class Backend, bool defers>
std::vector<Ranks::Note> GradientContext<Backend, defers>::meet(Meeting at, double weight, double loss) const {
  try {
    const std::vector<Ranks::Note> notes =
        ranks_.meet({.at = at, .step = now_.t, .selection = selection_, .weight = weight, .loss = loss});
    for (std::size_t r = 1; r < notes.size(); ++r)
      if (notes[r].selection != notes[0].selection)
        fail_as<RankFailure>("rank ", r, " of ", ranks_.size(), " selects other examples than rank 0 at step ", now_.t,
                             ": all ranks must be given the same selector");
    return notes;
  } catch (const RankFailure& failure) {
    if (!failure.diverged) throw;
    throw Diverged(failure);
  }
}

template <class Backend, bool defers>
double GradientContext<Backend, defers>::weight() const {
  if (evaluator_.loss_weights(work()) != nullptr) return evaluator_.sum_of_weights(work(), 0, batch().size());
  return static_cast<double>(batch_losses());
}

template <class Backend, bool defers>
double GradientContext<Backend, defers>::share(std::size_t worker) const {
  if (workers_ == 1) return ranks_.alone() || weight() > 0 ? 1 : 0;
  const std::size_t size = batch().size();
  if (evaluator_.loss_weights(work()) != nullptr) {
    const double all = evaluator_.sum_of_weights(work(), 0, size);
    return all > 0 ? evaluator_.sum_of_weights(work(), begin_of(worker), examples(worker)) / all : 0;
  }
  const ExampleRows rows = work().loss_rows();
  if (rows.begin(size) == 0) return 0;
  return static_cast<double>(rows.begin(begin_of(worker + 1)) - rows.begin(begin_of(worker))) /
         static_cast<double>(rows.begin(size));
}

template <class Backend, bool defers>
double GradientContext<Backend, defers>::compute_gradient(std::size_t worker, const Scalar* values, Scalar* gradients) {
  const std::size_t begin = begin_of(worker), n = examples(worker);
  gradient_examples_ += worker == 0 ? selected_ - begin_of(workers_) + n : n;  // the first counts other ranks' examples
  if (n == 0) {  // a batch smaller than the number of workers
    backend().fill(layout().size(), gradients, Scalar(0));
    return 0;
  }
  const std::size_t padded = workers_ == 1 ? batch().padded_size() : n;
  GraphExecutor<Backend>& executor = work().executor_of(backend(), begin, padded);
  GraphPass<Backend> pass;
  pass.values = values;
  pass.gradients = gradients;
  pass.examples = padded;
  pass.key = key_.fold(1).fold(now_.t);
  pass.first = begin_of(0, selected_) + begin;
  pass.weights = weights_.data() + work().loss_rows().begin(begin);
  executor.forward(pass);
  executor.backward(pass);
  if constexpr (defers)
    return 0;  // the deferred loss is that of the batch
  else
    return losses_.record(backend(), worker, work().loss_rows(), begin, n, work().losses(begin),
                          evaluator_.sum_of_weights(work(), begin, n));
}

template <class Backend, bool defers>
template <class Guard>
void GradientContext<Backend, defers>::update_buffers(Scalar* gradients, Scalar* values, const Guard& guard) {
  if (!buffers_) return;
  const detail::BufferUpdateRule rule{detail::BufferUpdate{}};
  rule.step(Update<Scalar, NoEvaluate, NoPorts, Guard>{gradients, values, {}, {}, guard}, *buffers_, {now_.t, 1});
}

template <class Backend, bool defers>
void GradientContext<Backend, defers>::add_gradient_norm(const Scalar* gradients) {
  backend().synchronize();
  const Stopwatch watch;
  gradient_squares_ += backend().dot(layout().trained_size(), gradients, gradients);
  ++measured_steps_;
  measuring_seconds_ += watch.seconds();
}

template <class Backend, bool defers>
std::optional<double> GradientContext<Backend, defers>::take_gradient_norm() {
  const std::size_t steps = std::exchange(measured_steps_, 0);
  if (steps == 0) return std::nullopt;
  return math::sqrt(std::exchange(gradient_squares_, 0) / static_cast<double>(steps));
}

template <class Backend, bool defers>
void GradientContext<Backend, defers>::check(std::size_t size, const Selection& selection) const {
  const std::size_t n = selection.indices.size();
  require(n > 0 && n <= largest_selection_ && selection.weights.size() == n, "TrainingLoop: the selector chose ", n,
          " examples and ", selection.weights.size(), " weights, expected the same number of each, 1 to ",
          largest_selection_);
  for (const std::uint32_t index : selection.indices)
    require(index < size, "TrainingLoop: the selector chose example ", index, ", expected [0, ", size, ")");
}

template <class Backend, bool defers>
const std::vector<typename Backend::Scalar>& GradientContext<Backend, defers>::losses() {
  if constexpr (defers) backend().read(batch_losses(), work().losses(), losses_.first().data());
  const std::vector<Scalar>& mine = losses_.of_examples(batch().size(), work().loss_rows());
  if (ranks_.alone()) return mine;
  (void)meet(Meeting::feedback, 0, 0);
  std::vector<std::size_t> counts;
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    counts.push_back((r + 1) * selected_ / ranks_.size() - r * selected_ / ranks_.size());
  return losses_of_all_ = ranks_.all_gather(mine, counts);
}

template <class Backend, bool defers>
void GradientContext<Backend, defers>::start(const Selection& selection) {
  selected_ = selection.indices.size();
  if (!ranks_.alone()) {
    selection_ = detail::hash_bytes(selection.indices.data(), selected_ * sizeof selection.indices[0]);
    selection_ = detail::hash_bytes(selection.weights.data(), selected_ * sizeof selection.weights[0], selection_);
  }
  const std::size_t rows = padded_losses();
  if (weights_.size() < rows) {  // the first batch, or more rows on a ragged axis than before
    const bool ragged = graph().axes[recorded_model().losses().axis].ragged;
    const std::size_t most = capacity() + FieldBatch<Backend>::padding_of(graph(), capacity());
    weights_ = {};
    weights_ = backend().template array<Scalar>(ragged ? rows + rows / 4 : work().loss_rows().begin(most));
  }
  // A loss divides by the number of all rows, unless they have weights.
  const bool means = evaluator_.loss_weights(work()) == nullptr && batch_losses() > 0;
  const double scale = means ? static_cast<double>(rows) / static_cast<double>(batch_losses()) : 1;
  const SelectionRange part = part_of(selection);
  losses_.start({part.weights, part.size}, work().loss_rows(), batch().padded_size(), scale);
  detail::send(backend(), rows, losses_.weights(), weights_.data());
}

template <class Backend, bool defers>
void GradientContext<Backend, defers>::diverged(std::uint64_t step, const Scalar* values,
                                                const Scalar* gradients) const {
  const std::string noticed = step < now_.t ? ", detected at step " + std::to_string(now_.t) : "";
  Diverged error("training diverged at step " + std::to_string(step) + noticed + ": the loss is not finite; " +
                 detail::divergence_cause(backend(), layout(), values, gradients, batch()));
  error.step = step;
  if (!ranks_.alone()) throw Diverged(ranks_.announce(error.what(), step, true));
  throw error;
}

}  // namespace algoperf
