// apply_if_finite(rule): skips a step if a gradient is infinite or NaN. A skipped step changes nothing: parameters,
// state and step count stay as they were. The wrapper counts the steps itself and ignores Step::t. optax's
// apply_if_finite applies a step after too many consecutive skips; this wrapper never does. `skipped_steps` returns the
// number of skipped steps, so that the caller can stop. A TrainingLoop throws Diverged if a loss is not finite; with
// this wrapper it continues. In sam(apply_if_finite(adamw())), the wrapper checks the gradient that adamw receives; the
// reverse order does not compile. Cost: 4 bytes per parameter. With Cuda, the device decides whether to skip a step, so
// the step is one graph and the host need not wait. Exceptions are rules that keep scalars (nadam), have a scheduled
// hyperparameter or work on matrices.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/layout.hpp"
#include "../../core/options.hpp"
#include "../../state/archive.hpp"
#include "../chain/own_memory.hpp"
#include "../concept.hpp"
#include "finite_gate.hpp"

namespace algoperf {

template <class Backend, class Rule>
struct ApplyIfFiniteState {
  Backend backend;
  typename Rule::template State<Backend> rule;  // if a device counts steps, its t() may be outdated
  detail::FiniteGate<Backend> gate;

  std::uint64_t t() const { return gate.record(backend).made; }
  const Layout& layout() const { return rule.layout(); }
  // Returns the number of steps skipped so far.
  std::uint64_t skipped_steps() const { return gate.record(backend).left_out; }
  template <class Archive>
  void visit(Archive& archive) {
    detail::GateRecord record = gate.record(backend);
    detail::recount(rule, record.made);
    visit_scoped(archive, "rule", rule);
    archive.number("skipped", record.left_out);
    if constexpr (Archive::reading) {
      record.made = rule.t();
      gate.set(backend, record);
    }
  }
};

template <class Rule>
class ApplyIfFinite {
 public:
  static constexpr bool moves_all_parameters = true;
  static constexpr bool stores_updates = true;
  static constexpr bool handles_non_finite = true;
  template <class Backend>
  using State = ApplyIfFiniteState<Backend, Rule>;
  // Whether the host issues steps without waiting to learn which are skipped.
  template <class Backend>
  static constexpr bool defers = detail::gate_defers<Backend, Rule>;

  constexpr explicit ApplyIfFinite(const Rule& rule) : rule_(rule) {}

  void group(const TensorSpec& spec, GroupKey& key) const { rule_.group(spec, key); }
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout) const {
    return state(backend, layout, layout.regions_for(*this));
  }
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout, std::vector<Region> regions) const {
    return {backend, rule_.state(backend, layout, std::move(regions)), {backend, layout.trained_size(), 1}};
  }
  void check() const { rule_.check(); }

  template <class Backend, class Evaluate>
  void step(const Update<typename Backend::Scalar, Evaluate>& update, State<Backend>& state, Step now) const {
    using Scalar = typename Backend::Scalar;
    const auto make = [&](const Step& made, const auto& guard, float) {
      using Guard = std::remove_cvref_t<decltype(guard)>;
      rule_.step(Update<Scalar, Evaluate, NoPorts, Guard>{update.gradients, update.values, update.evaluate, {}, guard},
                 state.rule, made);
    };
    state.gate.template step_if_finite<defers<Backend>>(state.backend, state.layout().trained_size(),
                                                        static_cast<const Scalar*>(update.gradients), NoLossScale{},
                                                        now, make);
  }
  template <class Backend>
  void step(std::span<typename Backend::Scalar> gradients, std::span<typename Backend::Scalar> values,
            State<Backend>& state, Step now) const {
    step(detail::own_memory(gradients, values, state.layout(), NoEvaluate{}), state, now);
  }
  template <class Backend, class G, class V>
  requires detail::OtherElements<typename Backend::Scalar, G, V>
  void step(G&, V&, State<Backend>&, Step) const { detail::explain_elements<typename Backend::Scalar>(); }

  static constexpr bool has_evaluation_values = Rule::has_evaluation_values;
  template <class Backend>
  void evaluation_values(const typename Backend::Scalar* values, State<Backend>& state,
                         typename Backend::Scalar* out) const {
    detail::recount(state.rule, state.t());
    rule_.evaluation_values(values, state.rule, out);
  }
  const Rule& rule() const { return rule_; }
  template <class F>
  void visit_options(F& f) const {
    detail::visit_options(rule_, f);
  }

 private:
  Rule rule_;
};

template <class Rule>
constexpr auto apply_if_finite(const Rule& rule) {
  static_assert(!detail::MovesAllParameters<Rule>,
                "algoperf: apply_if_finite(...) must check the gradient that the rule steps with: write "
                "sam(apply_if_finite(...))");
  return ApplyIfFinite<Rule>(rule);
}

}  // namespace algoperf
