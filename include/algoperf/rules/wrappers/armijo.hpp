// armijo(rule): a learning rate that needs no tuning, found by a line search. The rule steps with the learning rate
// gamma lr, where gamma was found in the previous step. Each step also searches for the gamma' of the next step: the
// first of gamma, shrink gamma, shrink^2 gamma, ... with
//   f(x) - f(x - gamma' g) >= gamma' (c |g|^2 + eps)
// on the step's batch. If none of the first `tries` candidates satisfies this, gamma' = shrink gamma. So gamma never
// grows, and the gamma of a step does not depend on the batch of that step.
//
// armijo() wraps SGD. With the schedule
//   NoiseAdaptive{.from = 1, .steps = T}                     alpha^(t-1), alpha = (1 / T)^(1 / T)
// it is SGD with exponentially decreasing steps, which needs neither the noise level nor the smoothness constant:
// Vaswani, Dubois-Taine & Babanezhad 2022 (arXiv:2110.11442), with the constants of their code. If another rule is
// wrapped, the search is still along the gradient.
//
// evaluate() must write the gradient of the loss that it returns. With Adasum<Of::gradients>, which combines gradients
// into a different vector, gamma shrinks needlessly.
//
// c in (0, 1), shrink in (0, 1), start (the first gamma) > 0, eps >= 0, tries >= 1.
// Cost per step: one evaluate(), which computes a gradient with the loss, and another for each candidate tried (one
// candidate once gamma is small enough). In addition to the rule: two slots of scratch; 36 bytes per parameter, plus 12
// per candidate. State: `gamma`.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "../../core/options.hpp"
#include "../chain/chain.hpp"
#include "../recipes/sgd.hpp"

namespace algoperf {

struct ArmijoOptions {
  double c = 0.5;
  double shrink = 0.7;
  double start = 2;
  double eps = 1e-12;
  int tries = 100;
};

template <class Backend, class Rule>
struct ArmijoState {
  typename Rule::template State<Backend> base;
  Backend backend;
  double gamma;
  typename Backend::template Array<typename Backend::Scalar> values, gradients;  // copies from before the search
  int tried = 0;                                                                 // candidates tried in the last step

  std::uint64_t t() const { return base.t(); }
  const Layout& layout() const { return base.layout(); }
  template <class Archive>
  void visit(Archive& archive) {
    archive.number("gamma", gamma);
    visit_scoped(archive, "armijo", base);
  }
};

namespace detail {

// x - gamma g. The first argument, the old value of the destination, is ignored.
template <class S>
struct TryStep {
  S gamma = 0;
  template <class T>
  ALGOPERF_HD T operator()(T, T x, T g) const {
    return x - gamma * g;
  }
};

template <class Evaluate>
concept ReturnsLoss = requires(const Evaluate& evaluate) {
  { evaluate() } -> std::same_as<double>;
};

template <class Evaluate>
consteval bool explain_evaluate() {
  static_assert(ReturnsLoss<Evaluate>,
                "algoperf: armijo compares losses: pass step(...) an `evaluate` that returns the loss at the current "
                "values as a double and writes its gradient to gradients");
  return ReturnsLoss<Evaluate>;
}

}  // namespace detail

template <class Rule>
class Armijo {
 public:
  static constexpr bool moves_all_parameters = true;
  static constexpr bool stores_updates = true;
  static constexpr bool handles_non_finite = true;  // a candidate whose loss is infinite or NaN is rejected
  template <class Backend>
  using State = ArmijoState<Backend, Rule>;

  constexpr Armijo(const Rule& rule, const ArmijoOptions& options) : rule_(rule), options_(options) {}

  void group(const TensorSpec& spec, GroupKey& key) const { rule_.group(spec, key); }
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout) const {
    return state(backend, layout, layout.regions_for(*this));
  }
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout, std::vector<Region> regions) const {
    using S = typename Backend::Scalar;
    check();
    const std::size_t n = layout.size();
    return {rule_.state(backend, layout, std::move(regions)), backend, options_.start, backend.template array<S>(n),
            backend.template array<S>(n)};
  }
  void check() const {
    const ArmijoOptions& o = options_;
    require(o.c > 0 && o.c < 1, "armijo: c is ", o.c, ", expected (0, 1)");
    require(o.shrink > 0 && o.shrink < 1, "armijo: shrink is ", o.shrink, ", expected (0, 1)");
    require_more_than(0, "armijo", "start", o.start);
    require_at_least(0, "armijo", "eps", o.eps);
    require(o.tries >= 1, "armijo: tries is ", o.tries, ", expected at least 1");
    rule_.check();
  }

  template <class Backend, class Evaluate>
  void step(const Update<typename Backend::Scalar, Evaluate>& update, State<Backend>& state, Step now) const {
    if constexpr (detail::explain_evaluate<Evaluate>()) {
      const double found = search(update, state);
      rule_.step(update, state.base, {now.t, state.gamma * now.learning_rate});
      state.gamma = found;
    }
  }
  // The same, on the caller's memory. evaluate() must return the loss at the current `values` as a double and write its
  // gradient to `gradients`.
  template <class Backend, class Evaluate>
  void step(std::span<typename Backend::Scalar> gradients, std::span<typename Backend::Scalar> values,
            State<Backend>& state, Step now, const Evaluate& evaluate) const {
    step(detail::own_memory(gradients, values, state.layout(), evaluate), state, now);
  }

  static constexpr bool has_evaluation_values = Rule::has_evaluation_values;
  template <class Backend>
  void evaluation_values(const typename Backend::Scalar* values, State<Backend>& state,
                         typename Backend::Scalar* out) const {
    rule_.evaluation_values(values, state.base, out);
  }

  const Rule& rule() const { return rule_; }
  template <class F>
  void visit_options(F& f) const {
    detail::visit_options(options_, f);
    detail::visit_options(rule_, f);
  }

 private:
  // Returns gamma for the next step. Restores values and gradients, also if evaluate() throws.
  template <class Backend, class Evaluate>
  double search(const Update<typename Backend::Scalar, Evaluate>& update, State<Backend>& state) const {
    using S = typename Backend::Scalar;
    const Backend& backend = state.backend;
    const std::size_t n = state.values.size();
    const S* const x = state.values.data();
    const S* const g = state.gradients.data();
    backend.copy(n, static_cast<const S*>(update.values), state.values.data());
    backend.copy(n, static_cast<const S*>(update.gradients), state.gradients.data());
    const auto go_back = [&] {
      backend.copy(n, x, update.values);
      backend.copy(n, g, update.gradients);
    };
    const double squares = squares_of(backend, state.layout(), g), needed = options_.c * squares + options_.eps;
    double gamma = state.gamma;
    bool found = false;
    state.tried = 0;
    if (!(squares > 0)) return options_.shrink * gamma;  // no descent: the gradient is zero or NaN
    try {
      const double before = update.evaluate();
      for (; !found && state.tried < options_.tries; ++state.tried) {
        if (state.tried > 0) gamma *= options_.shrink;
        backend.map(detail::TryStep<S>{static_cast<S>(gamma)}, state.layout().trained_size(), update.values, x, g);
        found = gamma <= (before - update.evaluate()) / needed;
      }
    } catch (...) {
      go_back();
      throw;
    }
    go_back();
    return found ? gamma : options_.shrink * state.gamma;
  }

  template <class Backend, class S>
  static double squares_of(const Backend& backend, const Layout& layout, const S* g) {
    double total = 0;
    for (const TensorHandle handle : layout.tensors()) {
      if (!layout.spec(handle).trained()) continue;
      const TensorPlace place = layout.place_of(handle);
      total += backend.dot(place.size, g + place.offset, g + place.offset);
    }
    return total;
  }

  Rule rule_;
  ArmijoOptions options_;
};

template <class Rule>
constexpr Armijo<Rule> armijo(const Rule& rule, ArmijoOptions options = {}) {
  return Armijo<Rule>(rule, options);
}
constexpr auto armijo(ArmijoOptions options = {}) { return armijo(sgd(), options); }

}  // namespace algoperf
