// GradientContext: the part of a training step that does not depend on the update rule: the parameters, the current
// batch, and its losses and gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../combine/group/ranks.hpp"
#include "../core/error.hpp"
#include "../core/layout.hpp"
#include "../data/concept.hpp"
#include "buffers.hpp"
#include "deferred_loss.hpp"
#include "diverged.hpp"
#include "divergence_cause.hpp"
#include "evaluator.hpp"
#include "gradient_norm.hpp"
#include "loop_ranks.hpp"
#include "resident_data.hpp"
#include "step_losses.hpp"
#include "visit_arena.hpp"
#include "worker_split.hpp"

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
  std::size_t workers() const { return split_.workers; }
  const Ranks& ranks() const { return ranks_; }
  std::uint64_t t() const { return now_.t; }
  Scalar* values() { return values_.data(); }
  const Scalar* values() const { return values_.data(); }
  Scalar* gradients() { return gradients_.data(); }
  std::size_t examples(std::size_t worker) const { return begin_of(worker + 1) - begin_of(worker); }
  // Returns a worker's part of the sum of a Weighted loss's weights, or of the number of losses, of this rank's
  // examples. weight() returns that sum or number.
  double share(std::size_t worker) const;
  double weight() const { return evaluator_.sum_of_weights(work(), 0, batch().size()); }
  // Meets the other ranks at this step. Throws Diverged on all ranks if the loss of one is not finite.
  std::vector<Ranks::Note> meet(Meeting at, double weight, double loss) const {
    return detail::meet_at_step(ranks_,
                                {.at = at, .step = now_.t, .selection = selection_, .weight = weight, .loss = loss});
  }

  // For combiners that run passes of their own: lets an executor read the batch, and returns the arguments of a pass
  // over n of its examples.
  void bind_fields(GraphExecutor<Backend>& executor) const { work().bind_fields(executor, 0); }
  GraphPass<Backend> pass_over(std::size_t begin, std::size_t n, const Scalar* values, Scalar* gradients) const;

  // The interface for TrainingLoop.
  const RecordedModel<Backend>& recorded_model() const { return evaluator_.model(); }
  const ModelGraph& graph() const { return evaluator_.graph(); }
  // Evaluates and predicts at any parameters.
  Evaluator<Backend>& evaluator() { return evaluator_; }
  // Returns the maximum number of this rank's examples.
  std::size_t capacity() const { return batch().capacity(); }
  std::size_t at_once() const { return evaluator_.work().at_once(); }
  std::uint64_t gradient_examples() const { return gradient_examples_; }
  // The norms of the gradients that rules receive.
  detail::GradientNorm& gradient_norm() { return gradient_norm_; }
  // Keeps a copy of the training data in a device's memory until release_data(), if it fits with some memory to spare.
  template <class Data>
  void make_resident(const Data& data) {
    if constexpr (!detail::RandomDataset<Data>)
      if (!graph().is_ragged()) resident_.make(backend(), data, batch());
  }
  void release_data() { resident_.release(); }

  // Throws Error if a selection of examples from `size` is invalid.
  void check(std::size_t size, const Selection& selection) const {
    detail::check_selection(selection, largest_selection_, size);
  }
  // Returns this rank's part of a selection.
  SelectionRange part_of(const Selection& selection) const { return split_.part_of(selection); }
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
    return !resident_.holds(data);
  }
  // Returns the losses of the examples loaded last, in host memory: the mean of each example's losses. If a rule
  // requested several gradients in the step, these are the losses at the parameters of each worker's first gradient.
  // Ranks gather the losses of all ranks.
  const std::vector<Scalar>& losses();

  template <class Archive>
  void visit(Archive& archive) {
    detail::visit_arena(archive, backend(), layout(), values());
  }

 protected:
  // objective: a model with its loss (nn/graph/objective.hpp). workers: of this rank. capacity: the maximum size of a
  // selection. Before use, arrange the layout for the rule and call initialize().
  GradientContext(const ModelFunctionRef<Backend>& objective, const Backend& backend, std::size_t workers, Ranks ranks,
                  std::size_t capacity, RandomKey key);
  ~GradientContext();

  Layout& mutable_layout() { return evaluator_.model().layout(); }
  // Allocates parameters and gradients, and draws the initial values.
  void initialize();
  // Computes the gradient of a worker's examples. Returns their loss, or 0 if losses are deferred.
  double compute_gradient(std::size_t worker, const Scalar* values, Scalar* gradients);
  // Computes the loss of the current step, if it is deferred, multiplied by this rank's share of the batch.
  void record_loss(double share) {
    if constexpr (defers)
      deferred_loss_.record(backend(), losses_of(batch().padded_size()), losses_.weights(), work().losses(),
                            evaluator_.loss_weights(work()), now_.t, share);
  }
  [[noreturn]] void diverged(std::uint64_t step, std::size_t rank, const Scalar* values, const Scalar* gradients) const;

  Step now_;
  detail::GradientNorm gradient_norm_;
  detail::ModelBuffers<Backend> buffers_;
  using Deferred = std::conditional_t<defers, detail::DeferredLoss<Backend>, detail::NoDeferredLoss<Backend>>;
  [[no_unique_address]] Deferred deferred_loss_;
  bool loss_added_ = false;  // whether the step's deferred loss is that of all ranks

 private:
  BatchExecutor<Backend>& work() { return evaluator_.work(); }
  const BatchExecutor<Backend>& work() const { return evaluator_.work(); }
  FieldBatch<Backend>& batch() { return work().batch; }
  const FieldBatch<Backend>& batch() const { return work().batch; }
  // Returns where a worker's examples begin in this rank's batch.
  std::size_t begin_of(std::size_t worker) const {
    return split_.begin_of(worker, selected_) - split_.begin_of(0, selected_);
  }
  // Returns the number of losses of the batch's first n examples.
  std::size_t losses_of(std::size_t n) const { return work().loss_rows().begin(n); }
  void start(const Selection& selection);

  Ranks ranks_;
  detail::WorkerSplit split_;
  Evaluator<Backend> evaluator_;
  std::size_t largest_selection_, selected_ = 0;
  std::uint64_t selection_ = 0;  // a hash, on several ranks
  bool pads_;
  RandomKey key_;
  detail::StepLosses<Backend> losses_;
  std::uint64_t gradient_examples_ = 0;
  using Resident = std::conditional_t<defers, ResidentCopy<Backend>, NoResidentCopy<Backend>>;
  [[no_unique_address]] Resident resident_;
  std::vector<Scalar> losses_of_all_;  // ranks
  Array values_, gradients_;
};

template <class Backend, bool defers>
ALGOPERF_COLD GradientContext<Backend, defers>::GradientContext(const ModelFunctionRef<Backend>& objective,
                                                                const Backend& backend, std::size_t workers,
                                                                Ranks ranks, std::size_t capacity, RandomKey key)
    : deferred_loss_(backend, ranks.size()),
      ranks_(std::move(ranks)),
      split_{ranks_.rank(), ranks_.size(), workers},
      evaluator_(backend, objective, split_.most_per_rank(capacity), split_.most_per_worker(capacity)),
      largest_selection_(capacity),
      pads_(AsynchronousBackend<Backend> && graph().is_ragged() && !graph().has_buffers && workers == 1),
      key_(key),
      losses_(workers, batch().padded_capacity()),
      resident_(backend, capacity) {
  std::size_t losses = 0;
  for (const ModelGraph::Op& op : graph().ops) losses += op.loss;
  require(losses == 1, "TrainingLoop: the model and its loss record ", losses, " losses, expected one");
}

template <class Backend, bool defers>
GradientContext<Backend, defers>::~GradientContext() = default;

template <class Backend, bool defers>
ALGOPERF_COLD void GradientContext<Backend, defers>::initialize() {
  require(layout().trained_size() > 0, "TrainingLoop: no tensor of the model is trained");
  values_ = recorded_model().initial_values(backend(), key_.fold(0));
  gradients_ = backend().template array<Scalar>(layout().size());
  if (graph().has_buffers) buffers_.initialize(backend(), layout());
}

template <class Backend, bool defers>
double GradientContext<Backend, defers>::share(std::size_t worker) const {
  if (workers() == 1) return ranks_.alone() || weight() > 0 ? 1 : 0;
  const double all = weight();
  return all > 0 ? evaluator_.sum_of_weights(work(), begin_of(worker), examples(worker)) / all : 0;
}

template <class Backend, bool defers>
GraphPass<Backend> GradientContext<Backend, defers>::pass_over(std::size_t begin, std::size_t n, const Scalar* values,
                                                               Scalar* gradients) const {
  return {.values = values,
          .gradients = gradients,
          .examples = n,
          .key = key_.fold(1).fold(now_.t),
          .first = split_.begin_of(0, selected_) + begin,
          .weights = losses_.weights() + losses_of(begin)};
}

template <class Backend, bool defers>
double GradientContext<Backend, defers>::compute_gradient(std::size_t worker, const Scalar* values, Scalar* gradients) {
  const std::size_t begin = begin_of(worker), n = examples(worker);
  gradient_examples_ += n;
  if (worker == 0) gradient_examples_ += selected_ - begin_of(workers());  // those of other ranks

  if (n == 0) {  // fewer examples than workers
    backend().fill(layout().size(), gradients, Scalar(0));
    return 0;
  }
  const std::size_t padded = workers() == 1 ? batch().padded_size() : n;
  GraphExecutor<Backend>& executor = work().executor_of(backend(), begin, padded);
  const GraphPass<Backend> pass = pass_over(begin, padded, values, gradients);
  executor.forward(pass);
  executor.backward(pass);
  if constexpr (defers)
    return 0;  // the deferred loss is that of the batch
  else
    return losses_.record(backend(), worker, work().loss_rows(), begin, n, work().losses(begin),
                          evaluator_.sum_of_weights(work(), begin, n));
}

template <class Backend, bool defers>
const std::vector<typename Backend::Scalar>& GradientContext<Backend, defers>::losses() {
  if constexpr (defers) backend().read(losses_of(batch().size()), work().losses(), losses_.first().data());
  const std::vector<Scalar>& mine = losses_.of_examples(batch().size(), work().loss_rows());
  if (ranks_.alone()) return mine;
  (void)meet(Meeting::feedback, 0, 0);
  return losses_of_all_ = ranks_.all_gather(mine, split_.examples_of_ranks(selected_));
}

template <class Backend, bool defers>
void GradientContext<Backend, defers>::start(const Selection& selection) {
  selected_ = selection.indices.size();
  loss_added_ = false;
  if (!ranks_.alone()) selection_ = detail::hash_of(selection);
  const SelectionRange part = part_of(selection);
  // A loss divides by the number of all rows, unless they have weights.
  losses_.start(backend(), {part.weights, part.size}, work().loss_rows(), batch().padded_size(),
                evaluator_.loss_weights(work()) == nullptr);
}

template <class Backend, bool defers>
void GradientContext<Backend, defers>::diverged(std::uint64_t step, std::size_t rank, const Scalar* values,
                                                const Scalar* gradients) const {
  detail::fail_as_diverged(ranks_, step, now_.t, rank,
                           detail::divergence_cause(backend(), layout(), values, gradients, batch()));
}

}  // namespace algoperf
