// sam(rule): sharpness-aware minimisation around any rule. Each step moves to p + e, computes the gradient there,
// returns to p and runs the rule with that gradient:
//   e = rho g / (|g| + 1e-12), the norm over all tensors.
// rho > 0. Foret et al. 2021, Algorithm 1 (arXiv:2010.01412); the 1e-12 as in davda54/sam (the paper has none).
// Cost: a second gradient, one slot for the saved parameters, 4 + 16 + 8 bytes per parameter in addition to the rule.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/math.hpp"
#include "../../core/options.hpp"
#include "../chain/chain.hpp"

namespace algoperf {

// Saves p and moves it by rho u / |u|.
struct SamPerturb {
  double rho = 0.05;

  static constexpr Over over = Over::all;
  static constexpr const char* slot_names[] = {"saved"};
  void check() const { require_more_than(0, "sam", "rho", rho); }

  template <class S>
  struct Kernel {
    static constexpr std::size_t slots = 1;
    S scale = 0;
    template <class T>
    ALGOPERF_HD T operator()(T u, T p, Slots<T, 1>& s) const {
      s[0] = p;
      return scale * u;
    }
  };
  template <class T>
  ALGOPERF_HD Sums<T, 1> measure(T u, T) const {
    return {{u * u}};
  }
  template <class S>
  ALGOPERF_HD Kernel<S> at(Step, const Sums<double, 1>& squares, TensorFacts) const {
    return {static_cast<S>(rho / (math::sqrt(squares[0]) + 1e-12))};
  }
};

template <class Backend, class Rule>
struct SamState {
  ChainState<Backend, SamPerturb> perturbed;
  typename Rule::template State<Backend> base;

  std::uint64_t t() const { return base.t(); }
  const Layout& layout() const { return base.layout(); }
  template <class Archive>
  void visit(Archive& archive) {
    visit_scoped(archive, "sam", base);  // the saved parameters are used only within a step
  }
};

template <class Rule>
class Sam {
 public:
  static constexpr bool moves_all_parameters = true;
  static constexpr bool stores_updates = true;
  // p + e may be infinite or NaN, because p is restored from a copy. The gradient there may then be infinite or NaN
  // too, so the wrapped rule must handle it.
  static constexpr bool handles_non_finite = requires { requires Rule::handles_non_finite; };
  template <class Backend>
  using State = SamState<Backend, Rule>;

  constexpr Sam(const Rule& rule, double rho) : rule_(rule), perturb_(SamPerturb{rho}) {}

  void group(const TensorSpec& spec, GroupKey& key) const { rule_.group(spec, key); }
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout) const {
    return state(backend, layout, layout.regions_for(*this));
  }
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout, std::vector<Region> regions) const {
    return {perturb_.state(backend, layout, regions), rule_.state(backend, layout, std::move(regions))};
  }
  void check() const {
    perturb_.check();
    rule_.check();
  }

  template <class Backend, class Evaluate>
  void step(const Update<typename Backend::Scalar, Evaluate>& update, State<Backend>& state, Step now) const {
    static_assert(!std::is_same_v<Evaluate, NoEvaluate>,
                  "algoperf: sam needs a second gradient: pass step(...) an `evaluate` that writes it to gradients");
    using Scalar = typename Backend::Scalar;
    const auto go_back = [&] {
      for (std::size_t r = 0; r < state.perturbed.regions().size(); ++r) {
        const Region& region = state.perturbed.regions()[r];
        state.perturbed.backend().copy(region.size(), static_cast<const Scalar*>(state.perturbed.slot(r, 0)),
                                       update.values + region.begin);
      }
    };
    perturb_.step(update, state.perturbed, now);
    try {
      update.evaluate();
    } catch (...) {
      go_back();
      throw;
    }
    go_back();
    rule_.step(update, state.base, now);
  }
  // The same, on the caller's memory. evaluate() must write the gradient at the current `values` to `gradients`.
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
    detail::visit_options(perturb_, f);
    detail::visit_options(rule_, f);
  }

 private:
  Rule rule_;
  Chain<SamPerturb> perturb_;
};

struct SamOptions {
  double rho = 0.05;
};

template <class Rule>
constexpr Sam<Rule> sam(const Rule& rule, SamOptions options = {}) {
  return Sam<Rule>(rule, options.rho);
}

}  // namespace algoperf
