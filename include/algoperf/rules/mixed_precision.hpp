// mixed_precision<Half>(rule): parameters and gradients of 16 bits (bfloat16 or float16), masters and state in float,
// for any rule, on the caller's own memory on any backend.
//
//   auto rule = mixed_precision<float16>(adamw(), DynamicLossScale{});    // bfloat16 needs no loss scale
//   auto state = rule.state(Host{}, layout);
//   ... gradients of state.loss_scale() times the loss ...
//   const bool stepped = rule.step(gradients, values, state, {.t = t, .learning_rate = 1e-3});
//
// Masters start as the parameters at the first step. With a loss scale, where a gradient is infinite or NaN, the step
// is left out whole: parameters, masters, state and the count of steps stay, only the scale falls. So the rule counts
// its steps itself, and Step::t is not read; and a device is waited for, for the check's answer. Without a loss scale
// nothing is checked, and float16 gradients vanish below 6e-8.
// Micikevicius et al. 2018 (arXiv:1710.03740), sections 3.1 and 3.2; torch.amp's GradScaler for the scale's movement.
//
// Cost of an element rule: that of the rule in float (28 bytes a parameter for AdamW: 2 + 12 read, 12 + 2 written), for
// nothing is converted in memory; and 2 bytes for the check, with a loss scale. Rules that keep u between passes (LAMB,
// Muon) also need a gradient arena in float, and 12 bytes a parameter more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "../backend/half_arrays.hpp"
#include "../core/archive.hpp"
#include "../core/error.hpp"
#include "../core/half.hpp"
#include "../core/layout.hpp"
#include "../core/math.hpp"
#include "../core/random.hpp"
#include "concept.hpp"
#include "own_memory.hpp"

namespace algoperf {

// The scale of the loss. It falls by `backoff` at a gradient that is not finite, and grows by `growth` after `interval`
// steps without one. start > 0, growth >= 1, backoff in (0, 1]. {.start = 1024, .growth = 1, .backoff = 1} is a
// constant scale. torch's GradScaler and its defaults.
struct DynamicLossScale {
  double start = 65536;
  double growth = 2;
  double backoff = 0.5;
  std::uint64_t interval = 2000;

  void check() const {
    require(start > 0 && start <= 1e30, "DynamicLossScale: start is ", start, ", expected (0, 1e30]");
    require(growth >= 1 && growth <= 1e30, "DynamicLossScale: growth is ", growth, ", expected [1, 1e30]");
    require(backoff > 0 && backoff <= 1, "DynamicLossScale: backoff is ", backoff, ", expected (0, 1]");
    require(interval > 0, "DynamicLossScale: interval is 0, expected at least 1");
  }
};

// The loss as it is, and no check: for bfloat16, whose range is float's.
struct NoLossScale {
  static constexpr double start = 1;
  void check() const {}
};

struct MixedPrecisionOptions {
  Rounding rounding = Rounding::nearest;  // of the parameters; stochastic for bfloat16 only
  std::uint64_t seed = 0;                 // of stochastic rounding
};

template <class Backend, class Rule>
struct MixedPrecisionState {
  Backend backend;
  typename Rule::template State<Backend> rule;
  typename Backend::template Array<float> masters, gradients, bad;
  double scale = 1;
  std::uint64_t steps_since_change = 0, skipped = 0;

  std::uint64_t t() const { return rule.t(); }
  const Layout& layout() const { return rule.layout(); }
  // What to multiply the loss by.
  double loss_scale() const { return scale; }
  // The number of steps left out so far.
  std::uint64_t skipped_steps() const { return skipped; }

  template <class Archive>
  void visit(Archive& archive) {
    visit_scoped(archive, "rule", rule);
    archive.number("loss_scale", scale);
    archive.number("steps_since_change", steps_since_change);
    archive.number("skipped", skipped);
    for (const TensorHandle handle : layout().tensors()) {
      const ArchiveScope scope(archive, layout().spec(handle).name);
      const TensorPlace place = layout().place_of(handle);
      archive.array("master", backend, masters.data() + place.offset, place.size);
    }
  }
};

template <class Half, class Rule, class Scaling>
class MixedPrecision {
 public:
  static constexpr bool moves_all_parameters = true;
  template <class Backend>
  using State = MixedPrecisionState<Backend, Rule>;

  constexpr MixedPrecision(const Rule& rule, const Scaling& scaling, const MixedPrecisionOptions& options)
      : rule_(rule), scaling_(scaling), options_(options) {}

  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout) const {
    static_assert(std::is_same_v<typename Backend::Scalar, float>,
                  "algoperf: mixed_precision has masters of float: it runs on Host<float>, Thrust<float>, Cuda<float>");
    scaling_.check();
    require(options_.rounding == Rounding::nearest || std::is_same_v<Half, bfloat16>,
            "mixed_precision: stochastic rounding is of bfloat16 only");
    const std::size_t n = layout.size();
    return {backend,
            rule_.state(backend, layout),
            backend.template array<float>(n),
            backend.template array<float>(Rule::stores_updates ? n : 0),
            backend.template array<float>(scales && !Backend::on_host ? detail::chunks_of(n) : 0),
            scaling_.start};
  }

  // Returns false, and leaves all but the loss scale as it was, where there is one and a gradient is not finite.
  template <class Backend>
  bool step(std::span<const Half> gradients, std::span<Half> values, State<Backend>& state, Step now) const {
    const std::size_t n = state.layout().size();
    detail::check_own_memory(gradients.size(), values.size(), state.layout());
    const Backend& backend = state.backend;
    if constexpr (scales)
      if (!detail::all_finite(backend, n, gradients.data(), state.bad.data())) {
        ++state.skipped;
        state.steps_since_change = 0;
        state.scale = math::max(state.scale * scaling_.backoff, 1e-30);  // 1 / scale is a float
        return false;
      }
    using Ports = detail::HalfPorts<Half>;
    Ports ports{gradients.data(), values.data(), static_cast<float>(1 / state.scale)};
    if (state.t() == 0) detail::widen(backend, n, Ports{values.data(), values.data()}, state.masters.data());
    now.t = state.t() + 1;
    ports.rounding = options_.rounding;
    ports.key = RandomStream(RandomKey{options_.seed}.fold(now.t)).bits();
    float* const masters = state.masters.data();
    if constexpr (Rule::stores_updates) {
      detail::widen(backend, n, ports, state.gradients.data());
      rule_.step(Update<float>{state.gradients.data(), masters}, state.rule, now);
      detail::narrow(backend, n, masters, ports);
    } else {
      rule_.step(Update<float, NoEvaluate, Ports>{masters, masters, {}, ports}, state.rule, now);
    }
    if constexpr (scales)
      if (++state.steps_since_change >= scaling_.interval) {
        state.scale = math::min(state.scale * scaling_.growth, 1e30);
        state.steps_since_change = 0;
      }
    return true;
  }

  // In float, from the masters, which before the first step are `values` (rules/chain.hpp).
  static constexpr bool has_evaluation_values = Rule::has_evaluation_values;
  template <class Backend>
  void evaluation_values(std::span<const Half> values, State<Backend>& state, float* out) const {
    if (state.t() == 0)
      detail::widen(state.backend, values.size(), detail::HalfPorts<Half>{values.data(), nullptr}, out);
    else
      rule_.evaluation_values(static_cast<const float*>(state.masters.data()), state.rule, out);
  }

  const Rule& rule() const { return rule_; }
  static constexpr bool scales = !std::is_same_v<Scaling, NoLossScale>;

 private:
  Rule rule_;
  Scaling scaling_;
  MixedPrecisionOptions options_;
};

template <class Half, class Rule>
constexpr auto mixed_precision(const Rule& rule, const MixedPrecisionOptions& options = {}) {
  return MixedPrecision<Half, Rule, NoLossScale>(rule, {}, options);
}
template <class Half, class Rule, class Scaling>
constexpr auto mixed_precision(const Rule& rule, const Scaling& scaling, const MixedPrecisionOptions& options = {}) {
  static_assert(
      requires { scaling.check(); }, "algoperf: mixed_precision takes a loss scale such as DynamicLossScale{}");
  return MixedPrecision<Half, Rule, Scaling>(rule, scaling, options);
}

}  // namespace algoperf
