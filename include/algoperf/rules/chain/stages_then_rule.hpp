// StagesThenRule: the rule that chain(stages..., rule) returns if `rule` is not a chain (chain.hpp). The stages act on
// the gradients of all tensors, and the rule takes the resulting u as its gradient. For example, one global norm clips
// the gradients of all parts of a partition:
//   chain(ClipByGlobalNorm{}, partition(matrices, muon(), otherwise, adamw()))
// Cost in addition to the stages and the rule: u is stored once and read again, 8 bytes per parameter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../../core/layout.hpp"
#include "../../state/archive.hpp"
#include "chain_class.hpp"
#include "own_memory.hpp"

namespace algoperf {

namespace detail {

// The last stage of a chain that leaves u in the gradient arena and does not change the parameters.
struct HandOver {
  static constexpr bool ends_chain = true;
  template <class Backend>
  struct State {};
  template <class Backend>
  State<Backend> state(const Backend&, const auto&, const auto&) const {
    return {};
  }
  template <class Backend>
  void transform(const MatrixWork<Backend>&, State<Backend>&) const {}
};

}  // namespace detail

template <class Backend, class Stages, class Rule>
struct StagesThenRuleState {
  typename Stages::template State<Backend> stages;
  typename Rule::template State<Backend> rule;

  std::uint64_t t() const { return rule.t(); }
  void recount(std::uint64_t t) {
    stages.recount(t);
    rule.recount(t);
  }
  const Layout& layout() const { return stages.layout(); }
  template <class Archive>
  void visit(Archive& archive) {
    visit_scoped(archive, "before", stages);
    visit_scoped(archive, "rule", rule);
  }
};

template <class Rule, class... Stages>
class StagesThenRule {
  using Head = Chain<Stages..., detail::HandOver>;

 public:
  static constexpr bool stores_updates = true;
  template <class Backend>
  using State = StagesThenRuleState<Backend, Head, Rule>;

  constexpr StagesThenRule(const Rule& rule, const Stages&... stages)
      : stages_(stages..., detail::HandOver{}), rule_(rule) {}

  void group(const TensorSpec& spec, GroupKey& key) const {
    stages_.group(spec, key);
    rule_.group(spec, key);
  }
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout) const {
    return state(backend, layout, layout.regions_for(*this));
  }
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout, const std::vector<Region>& regions) const {
    return {stages_.state(backend, layout, regions), rule_.state(backend, layout, regions)};
  }
  void check() const {
    stages_.check();
    rule_.check();
  }

  static constexpr bool counts_on_device = Head::counts_on_device && Rule::counts_on_device;
  template <class Backend, class Evaluate, class Guard>
  void step(const Update<typename Backend::Scalar, Evaluate, NoPorts, Guard>& update, State<Backend>& state,
            Step now) const {
    stages_.step(update, state.stages, now);
    rule_.step(update, state.rule, now);
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
    rule_.evaluation_values(values, state.rule, out);
  }

  const Head& stages() const { return stages_; }
  const Rule& rule() const { return rule_; }

 private:
  Head stages_;
  Rule rule_;
};

}  // namespace algoperf
