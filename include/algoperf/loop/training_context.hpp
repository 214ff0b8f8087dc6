// TrainingContext: the data of a training step with one update rule, with the interface that combiners use
// (combine/concept.hpp). It is created once. A step allocates no memory, except inside matrix products and
// convolutions, where a ragged axis has more rows than before, and for messages to other ranks. Its type does not
// depend on the model's, so programs with many models compile it once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "../combine/over_ranks.hpp"
#include "../core/map_kernels.hpp"
#include "gradient_context.hpp"

namespace algoperf {

namespace detail {

// Whether the losses of a rule's steps are deferred. Rules that request gradients themselves or use the loss need it
// immediately.
template <class Rule, class Backend>
constexpr bool losses_deferred() {
  if constexpr (AsynchronousBackend<Backend>)
    return defers_on<Rule, Backend>();
  else
    return false;
}

}  // namespace detail

template <class Rule, class BackendType>
class TrainingContext : public GradientContext<BackendType, detail::losses_deferred<Rule, BackendType>()> {
  using Base = GradientContext<BackendType, detail::losses_deferred<Rule, BackendType>()>;

 public:
  using Backend = BackendType;
  using Scalar = typename Backend::Scalar;
  using RuleState = typename Rule::template State<Backend>;
  using Base::defers;
  static constexpr bool has_evaluation_values = Rule::has_evaluation_values;
  // Whether the rule handles gradients that are not finite.
  static constexpr bool handles_non_finite = requires { requires Rule::handles_non_finite; };

  // objective: a model with its loss (nn/graph/objective.hpp).
  ALGOPERF_COLD TrainingContext(const ModelFunctionRef<Backend>& objective, const Rule& rule, const Backend& backend,
                                std::size_t workers, Ranks ranks, std::size_t capacity, RandomKey key)
      : Base(objective, backend, workers, std::move(ranks), capacity, key), rule_(rule) {
    this->mutable_layout().arrange_for(rule_);
    this->initialize();
  }

  // The interface for combiners.
  // Meets the other ranks at this step. Throws Diverged on all ranks if the loss of one is not finite. Deferred losses
  // are added over the ranks when they meet at a gradient, so that all ranks suppress the same steps.
  std::vector<Ranks::Note> meet(Meeting at, double weight, double loss) {
    std::vector<Ranks::Note> notes = Base::meet(at, weight, loss);
    if constexpr (defers)
      if (at == Meeting::gradient) {
        const double all = detail::sum_of_weights(notes);
        this->record_loss(all > 0 ? weight / all : 0);
        this->deferred_loss_.add_over_ranks(this->backend(), this->ranks(), this->now_.t);
        this->loss_added_ = true;
      }
    return notes;
  }
  RuleState make_rule_state() const { return rule_.state(this->backend(), this->layout()); }
  double gradient(std::size_t worker, const Scalar* values, Scalar* gradients) {
    const double loss = this->compute_gradient(worker, values, gradients);
    if constexpr (!defers && !handles_non_finite)
      if (!detail::finite_bits(loss)) this->diverged(this->now_.t, this->ranks().rank(), values, gradients);
    return loss;
  }
  template <class Evaluate>
  void step(Scalar* gradients, Scalar* values, RuleState& state, const Evaluate& evaluate) {
    if constexpr (defers) {
      if (!this->loss_added_) this->record_loss(1);
    } else if (this->gradient_norm_.measures()) {
      this->gradient_norm_.add(this->backend(), this->layout().trained_size(), gradients);
    }
    const auto step_unless = [&](const auto& guard) {
      using Guard = std::remove_cvref_t<decltype(guard)>;
      rule_.step(Update<Scalar, Evaluate, NoPorts, Guard>{gradients, values, evaluate, {}, guard}, state, this->now_);
      this->buffers_.update(gradients, values, guard, this->now_.t);
    };
    if constexpr (suppresses)
      step_unless(this->deferred_loss_.guard());
    else
      step_unless(NoGuard{});
  }
  // Adds a combined update to the parameters, unless the step is suppressed.
  void add_to_values(const Scalar* update) {
    const std::size_t n = this->layout().size();
    if constexpr (suppresses)
      this->backend().map(AddUnless<Unless>{this->deferred_loss_.guard()}, n, this->values(), update);
    else
      this->backend().map(Add{}, n, this->values(), update);
  }

  // The interface for TrainingLoop.
  const Rule& rule() const { return rule_; }
  // Waits for the deferred loss of the last step, the batch's mean weighted loss, and returns it. Throws Diverged if it
  // or the loss of an earlier step was not finite, unless the rule handles that.
  double loss() {
    const double loss = this->deferred_loss_.read(this->backend());
    if constexpr (!handles_non_finite)
      if (const auto found = this->deferred_loss_.take_divergence(this->backend()); found.step != 0)
        this->diverged(static_cast<std::uint64_t>(found.step), static_cast<std::size_t>(found.rank), this->values(),
                       this->gradients());
    return loss;
  }
  // Lets steps proceed after a divergence that another rank has reported.
  void forget_divergence() {
    if constexpr (suppresses) this->deferred_loss_.take_divergence(this->backend());
  }

 private:
  // Whether the device suppresses steps after a loss that is not finite.
  static constexpr bool suppresses = defers && !handles_non_finite;

  Rule rule_;
};

}  // namespace algoperf
