// mixed_precision<Half>(rule): keeps parameters and gradients in 16 bits (bfloat16 or float16), and master parameters
// and state in float. Works with any rule, on the caller's memory, on any backend.
//
//   auto rule = mixed_precision<float16>(adamw(), DynamicLossScale{});    // bfloat16 needs no loss scale
//   auto state = rule.state(Host{}, layout);
//   ... gradients of state.loss_scale() times the loss ...
//   rule.step(gradients, values, state, {.learning_rate = 1e-3});
//
// The first step copies the parameters to the masters. With a loss scale, a step is skipped if a gradient is infinite
// or NaN: parameters, masters, state and step count do not change, and only the scale decreases. The rule therefore
// counts its steps itself and ignores Step::t. With Cuda the device decides, counts and adjusts the scale, and the host
// need not wait, unless the rule keeps scalars (nadam), has a scheduled hyperparameter or works on matrices. Without a
// loss scale, gradients are not checked, and float16 gradients below 6e-8 underflow to zero.
// Source: Micikevicius et al. 2018 (arXiv:1710.03740), sections 3.1 and 3.2; the scale changes as in torch.amp's
// GradScaler.
//
// Cost of an element rule: that of the rule in float (28 bytes per parameter for AdamW: 2 + 12 read, 12 + 2 written),
// because values are converted in registers. A loss scale adds 2 bytes per parameter for the check. Rules that store u
// between passes (LAMB, Muon) also need a gradient arena in float and 12 more bytes per parameter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "../../backend/half_arrays.hpp"
#include "../../core/error.hpp"
#include "../../core/half.hpp"
#include "../../core/layout.hpp"
#include "../../core/options.hpp"
#include "../../core/random.hpp"
#include "../../state/archive.hpp"
#include "../chain/own_memory.hpp"
#include "../concept.hpp"
#include "finite_gate.hpp"

namespace algoperf {

struct MixedPrecisionOptions {
  Rounding rounding = Rounding::nearest;  // of the parameters; stochastic for bfloat16 only
  std::uint64_t seed = 0;                 // of stochastic rounding
};

template <class Backend, class Rule>
struct MixedPrecisionState {
  Backend backend;
  typename Rule::template State<Backend> rule;  // if a device counts steps, its t() may be outdated
  typename Backend::template Array<float> masters, gradients;
  bool gated;  // whether there is a loss scale
  detail::FiniteGate<Backend> gate;
  std::uint64_t calls = 0;  // number of calls of step()

  std::uint64_t t() const { return gated ? gate.record(backend).made : rule.t(); }
  const Layout& layout() const { return rule.layout(); }
  // Returns the factor to multiply the loss by. Waits for the device. loss_scale_at() returns the factor's address in
  // the backend's memory, so that kernels need not wait; the address changes if the state is copied, moved or loaded.
  double loss_scale() const { return gate.record(backend).scale; }
  const double* loss_scale_at() const { return &gate.place()->scale; }
  // Returns the number of steps skipped so far.
  std::uint64_t skipped_steps() const { return gate.record(backend).left_out; }

  template <class Archive>
  void visit(Archive& archive) {
    detail::GateRecord record = gate.record(backend);
    if (gated) detail::recount(rule, record.made);
    visit_scoped(archive, "rule", rule);
    archive.number("loss_scale", record.scale);
    archive.number("steps_since_change", record.quiet);
    archive.number("skipped", record.left_out);
    if constexpr (Archive::reading) {
      record.made = rule.t();
      if (!gated) record = {.made = rule.t()};  // the saved state may have had a loss scale
      gate.set(backend, record);
      calls = record.made + record.left_out;
    }
    for (const TensorHandle handle : layout().tensors()) {
      const ArchiveScope scope(archive, layout().spec(handle).name);
      const TensorPlace place = layout().place_of(handle);
      archive.array("master", backend, masters.data() + place.offset, place.size);
    }
  }
};

template <class Half, class Rule, class LossScale>
class MixedPrecision {
 public:
  static constexpr bool moves_all_parameters = true;
  static constexpr bool scales = !std::is_same_v<LossScale, NoLossScale>;
  template <class Backend>
  using State = MixedPrecisionState<Backend, Rule>;

  constexpr MixedPrecision(const Rule& rule, const LossScale& loss_scale, const MixedPrecisionOptions& options)
      : rule_(rule), loss_scale_(loss_scale), options_(options) {}

  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout) const {
    static_assert(
        std::is_same_v<typename Backend::Scalar, float>,
        "algoperf: mixed_precision keeps its masters in float, so it needs Host<float>, Thrust<float> or Cuda<float>");
    loss_scale_.check();
    require(options_.rounding == Rounding::nearest || std::is_same_v<Half, bfloat16>,
            "mixed_precision: stochastic rounding is available for bfloat16 only");
    const std::size_t n = layout.size();
    return {backend,
            rule_.state(backend, layout),
            backend.template array<float>(n),
            backend.template array<float>(Rule::stores_updates ? n : 0),
            scales,
            {backend, scales ? layout.trained_size() : 0, loss_scale_.start}};
  }

  // With a loss scale, a step with a gradient that is not finite is skipped and counted by skipped_steps().
  template <class Backend>
  void step(std::span<const Half> gradients, std::span<Half> values, State<Backend>& state, Step now) const {
    const std::size_t n = state.layout().size();
    detail::check_own_memory(gradients.size(), values.size(), state.layout());
    using Ports = detail::HalfPorts<Half>;
    if (state.calls == 0) detail::widen(state.backend, n, Ports{values.data(), values.data()}, state.masters.data());
    Ports ports{gradients.data(), values.data()};
    ports.rounding = options_.rounding;
    ports.key = RandomStream(RandomKey{options_.seed}.fold(state.calls + 1)).bits();
    if constexpr (scales) {
      const auto make = [&](const Step& made, const auto& guard, float unscale) {
        ports.scale = unscale;
        if constexpr (std::remove_cvref_t<decltype(guard)>::counts) ports.scale_at = &state.gate.place()->unscale;
        this->make(ports, guard, state, made);
      };
      state.gate.template step_if_finite<detail::gate_defers<Backend, Rule>>(
          state.backend, state.layout().trained_size(), gradients.data(), loss_scale_, now, make);
    } else {
      now.t = state.calls + 1;
      make(ports, NoGuard{}, state, now);
    }
    ++state.calls;
  }

  // Writes the parameters for evaluation to `out`, in float, as Chain::evaluation_values does
  // (rules/chain/chain_class.hpp). Computes them from the masters. Before the first step, converts `values` instead.
  static constexpr bool has_evaluation_values = Rule::has_evaluation_values;
  template <class Backend>
  void evaluation_values(std::span<const Half> values, State<Backend>& state, float* out) const {
    if (state.calls == 0)
      return detail::widen(state.backend, values.size(), detail::HalfPorts<Half>{values.data(), nullptr}, out);
    detail::recount(state.rule, state.t());
    rule_.evaluation_values(static_cast<const float*>(state.masters.data()), state.rule, out);
  }

  const Rule& rule() const { return rule_; }
  template <class F>
  void visit_options(F& f) const {
    detail::visit_options(options_, f);
    detail::visit_options(loss_scale_, f);
    detail::visit_options(rule_, f);
  }

 private:
  template <class Backend, class Guard>
  void make(const detail::HalfPorts<Half>& ports, const Guard& guard, State<Backend>& state, const Step& now) const {
    using Ports = detail::HalfPorts<Half>;
    const std::size_t n = state.layout().size();
    float* const masters = state.masters.data();
    if constexpr (Rule::stores_updates) {
      detail::widen(state.backend, n, ports, state.gradients.data());
      rule_.step(Update<float, NoEvaluate, NoPorts, Guard>{state.gradients.data(), masters, {}, {}, guard}, state.rule,
                 now);
      detail::narrow(state.backend, n, masters, ports, guard);
    } else {
      rule_.step(Update<float, NoEvaluate, Ports, Guard>{masters, masters, {}, ports, guard}, state.rule, now);
    }
  }

  Rule rule_;
  LossScale loss_scale_;
  MixedPrecisionOptions options_;
};

template <class Half, class Rule>
constexpr auto mixed_precision(const Rule& rule, const MixedPrecisionOptions& options = {}) {
  return MixedPrecision<Half, Rule, NoLossScale>(rule, {}, options);
}
template <class Half, class Rule, class LossScale>
constexpr auto mixed_precision(const Rule& rule, const LossScale& loss_scale,
                               const MixedPrecisionOptions& options = {}) {
  static_assert(
      requires { loss_scale.check(); }, "algoperf: mixed_precision takes a loss scale such as DynamicLossScale{}");
  return MixedPrecision<Half, Rule, LossScale>(rule, loss_scale, options);
}

}  // namespace algoperf
