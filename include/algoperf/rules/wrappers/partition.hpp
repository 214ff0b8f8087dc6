// partition(where, rule, where, rule, ...): updates each tensor with the rule of the first predicate that accepts it.
//   partition(matrices, muon(), otherwise, adamw())
// Throws Error, naming the tensor, if no predicate accepts it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../core/layout.hpp"
#include "../../core/tuple.hpp"
#include "../../state/archive.hpp"
#include "../chain/own_memory.hpp"
#include "../chain/stages_then_rule.hpp"
#include "../concept.hpp"

namespace algoperf {

template <class Where, class Rule>
struct Part {
  Where where;
  Rule rule;
};

// The states of all parts, each for the tensors of its part.
template <class Backend, class... Rules>
struct PartitionState {
  Layout whole;
  Tuple<typename Rules::template State<Backend>...> parts;

  std::uint64_t t() const { return get<0>(parts).t(); }
  void recount(std::uint64_t t) {
    for_each_index<sizeof...(Rules)>([&](auto i) { get<i>(parts).recount(t); });
  }
  const Layout& layout() const { return whole; }
  template <class Archive>
  void visit(Archive& archive) {
    for_each_index<sizeof...(Rules)>(
        [&](auto i) { visit_scoped(archive, "part_" + std::to_string(i), get<i>(parts)); });
  }
};

template <class... Parts>
class Partition;

template <class... Wheres, class... Rules>
class Partition<Part<Wheres, Rules>...> {
 public:
  template <class Backend>
  using State = PartitionState<Backend, Rules...>;

  constexpr explicit Partition(const Part<Wheres, Rules>&... parts) : parts_(tuple_of(parts...)) {}

  void group(const TensorSpec& spec, GroupKey& key) const {
    const std::size_t owner = owner_of(spec);
    for_each_index<count>([&](auto i) {
      if (i == owner) get<i>(parts_).rule.group(spec, key);
    });
    key.mix(count, owner);  // last, so that keys of different parts differ
  }

  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout) const {
    return state(backend, layout, layout.regions_for(*this));
  }
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout, const std::vector<Region>& regions) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>)->State<Backend> {
      return {layout, {{{get<I>(parts_).rule.state(backend, layout, regions_of(I, layout, regions))}...}}};
    }
    (std::make_index_sequence<count>{});
  }
  void check() const {
    for_each_index<count>([&](auto i) { get<i>(parts_).rule.check(); });
  }

  static constexpr bool stores_updates = (... || Rules::stores_updates);
  static constexpr bool counts_on_device = (... && Rules::counts_on_device);
  template <class Backend, class Evaluate, class Ports, class Guard>
  void step(const Update<typename Backend::Scalar, Evaluate, Ports, Guard>& update, State<Backend>& state,
            Step now) const {
    for_each_index<count>([&](auto i) { get<i>(parts_).rule.step(update, get<i>(state.parts), now); });
  }
  template <class Backend>
  void step(std::span<typename Backend::Scalar> gradients, std::span<typename Backend::Scalar> values,
            State<Backend>& state, Step now) const {
    step(detail::own_memory(gradients, values, state.layout(), NoEvaluate{}), state, now);
  }
  template <class Backend, class G, class V>
  requires detail::OtherElements<typename Backend::Scalar, G, V>
  void step(G&, V&, State<Backend>&, Step) const { detail::explain_elements<typename Backend::Scalar>(); }

  static constexpr bool has_evaluation_values = (... || Rules::has_evaluation_values);
  template <class Backend>
  void evaluation_values(const typename Backend::Scalar* values, State<Backend>& state,
                         typename Backend::Scalar* out) const {
    for_each_index<count>([&](auto i) { get<i>(parts_).rule.evaluation_values(values, get<i>(state.parts), out); });
  }

  const Tuple<Part<Wheres, Rules>...>& parts() const { return parts_; }

 private:
  static constexpr std::size_t count = sizeof...(Rules);

  std::size_t owner_of(const TensorSpec& spec) const {
    std::size_t owner = count;
    for_each_index<count>([&](auto i) {
      if (owner == count && get<i>(parts_).where(spec)) owner = i;
    });
    require(owner < count, "partition: no predicate accepts the tensor '", spec.name, "': end with `otherwise, rule`");
    return owner;
  }
  std::vector<Region> regions_of(std::size_t part, const Layout& layout, const std::vector<Region>& regions) const {
    std::vector<Region> own;
    for (const Region& region : regions)
      if (owner_of(layout.spec(region.tensors.front())) == part) own.push_back(region);
    return own;
  }

  Tuple<Part<Wheres, Rules>...> parts_;
};

namespace detail {

template <class Where, class Rule>
consteval bool explain_part() {
  static_assert(
      requires(const Where& where, const TensorSpec& spec) { static_cast<bool>(where(spec)); },
      "algoperf: partition takes pairs `where, rule`: where is a predicate `bool (const TensorSpec&)`, e.g. matrices");
  static_assert(!std::is_invocable_v<Rule>, "algoperf: a recipe must be called: write adamw(), not adamw");
  static_assert(
      requires { typename Rule::template State<Host<float>>; },
      "algoperf: partition takes pairs `where, rule`: rule is a chain(...) or a recipe such as adamw()");
  static_assert(!MovesAllParameters<Rule>,
                "algoperf: sam(...), armijo(...), apply_if_finite(...) and mixed_precision(...) must wrap the whole "
                "partition: write sam(partition(...))");
  return true;
}

template <class... Done>
constexpr auto make_partition(const Tuple<Done...>& done) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return Partition<Done...>(get<I>(done)...); }
  (std::index_sequence_for<Done...>{});
}

template <class... Done, class Where, class Rule, class... Rest>
constexpr auto make_partition(const Tuple<Done...>& done, const Where& where, const Rule& rule, const Rest&... rest) {
  if constexpr (explain_part<Where, Rule>()) return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return make_partition(tuple_of(get<I>(done)..., Part<Where, Rule>{where, rule}), rest...);
    }
  (std::index_sequence_for<Done...>{});
}

}  // namespace detail

template <class... WheresAndRules>
constexpr auto partition(const WheresAndRules&... wheres_and_rules) {
  constexpr bool pairs = sizeof...(WheresAndRules) > 0 && sizeof...(WheresAndRules) % 2 == 0;
  static_assert(pairs,
                "algoperf: partition takes pairs `where, rule, where, rule, ...`, usually ending in `otherwise, rule`");
  if constexpr (pairs) return detail::make_partition(Tuple<>{}, wheres_and_rules...);
}

}  // namespace algoperf
