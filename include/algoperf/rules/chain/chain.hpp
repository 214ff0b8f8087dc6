// chain(stages...): an update rule composed of stages, after optax's `chain`. It is split into passes at compile time.
//
//   auto lamb = chain(Adam{}, DecayedWeights{.rate = 0.01}, TrustRatio{}, Descend{});    // two passes
//   auto state = lamb.state(Host{}, layout);
//   lamb.step(gradients, values, state, {.t = 1, .learning_rate = 1e-3});                // on the caller's own memory
//
// Exactly one stage must scale by the learning rate (Descend). It may be at any position (LARS has it before momentum).
//
// A chain among the stages is replaced by its stages: chain(ClipByGlobalNorm{}, adamw()) is one chain, at no extra
// cost. The last argument may also be a rule that is not a chain; then no stage may scale by the learning rate
// (stages_then_rule.hpp):
//   chain(ClipByGlobalNorm{}, partition(matrices, muon(), otherwise, adamw()))
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "chain_class.hpp"
#include "stages_then_rule.hpp"

namespace algoperf {
namespace detail {

template <class... Stages>
consteval bool final_stages_last() {
  const bool last[] = {SeesFinalUpdate<Stages>..., true};
  for (std::size_t i = 0; i < sizeof...(Stages); ++i)
    if (last[i] && !last[i + 1]) return false;
  return true;
}

template <class T>
inline constexpr bool is_rule = requires {
  typename T::template State<Host<float>>;
  T::has_evaluation_values;
};

template <class... Stages>
consteval bool explain_chain() {
  static_assert((!is_rule<Stages> && ...),
                "algoperf: a rule among the stages of a chain, such as partition(...), must come last");
  static_assert((!std::is_invocable_v<Stages> && ...), "algoperf: a recipe must be called: write adamw(), not adamw");
  static_assert(sizeof...(Stages) > 0, "algoperf: chain() needs at least one stage, e.g. chain(Descend{})");
  (explain_stage<Stages>(), ...);
  constexpr std::size_t rates = (std::size_t{0} + ... + std::size_t{ScalesByLearningRate<Stages>});
  static_assert(rates != 0,
                "algoperf: this chain never scales by the learning rate: add the stage Descend{}, usually last");
  static_assert(
      final_stages_last<Stages...>(),
      "algoperf: a stage that reads the updated parameters, such as WeightAverage, must come last in a chain");
  static_assert(rates <= 1, "algoperf: this chain scales by the learning rate more than once: keep one Descend{}");
  return true;
}

template <class Rule, class... Stages>
consteval bool explain_stages_then_rule() {
  static_assert((!is_rule<Stages> && ...),
                "algoperf: a rule among the stages of a chain, such as partition(...), must come last");
  (explain_stage<Stages>(), ...);
  static_assert((!ScalesByLearningRate<Stages> && ...),
                "algoperf: in chain(stages..., rule), the rule scales by the learning rate: remove Descend{}");
  static_assert(
      (!HasEvaluation<Stages> && ...) && (!SeesFinalUpdate<Stages> && ...),
      "algoperf: in chain(stages..., rule), a stage that averages parameters does not see the rule's updates: "
      "move it into the rule");
  static_assert(!MovesAllParameters<Rule>,
                "algoperf: sam(...), armijo(...), apply_if_finite(...) and mixed_precision(...) must wrap the whole "
                "chain: write sam(chain(...))");
  return true;
}

// The flattened arguments of chain(...): the stages, including those of nested chains, and possibly a rule at the end.
template <class... Parts>
struct Composed {
  Tuple<Parts...> parts;

  template <class Part>
  constexpr auto operator+(const Part& part) const {
    return joined(tuple_of(part), std::index_sequence_for<Parts...>{}, std::index_sequence<0>{});
  }
  template <class... Stages>
  constexpr auto operator+(const Chain<Stages...>& chain) const {
    return joined(chain.stages(), std::index_sequence_for<Parts...>{}, std::index_sequence_for<Stages...>{});
  }

  constexpr auto rule() const {
    constexpr std::size_t last = sizeof...(Parts) - 1;
    constexpr bool ends_in_rule = is_rule<TupleElement<last, Tuple<Parts...>>>;
    if constexpr (ends_in_rule && last == 0)
      return get<0>(parts);
    else if constexpr (ends_in_rule)
      return before(std::make_index_sequence<last>{});
    else
      return chained(std::index_sequence_for<Parts...>{});
  }

 private:
  template <class... More, std::size_t... I, std::size_t... J>
  constexpr auto joined(const Tuple<More...>& more, std::index_sequence<I...>, std::index_sequence<J...>) const {
    return Composed<Parts..., More...>{tuple_of(get<I>(parts)..., get<J>(more)...)};
  }
  template <std::size_t... I>
  constexpr auto chained(std::index_sequence<I...>) const {
    if constexpr (explain_chain<Parts...>()) return Chain<Parts...>(get<I>(parts)...);
  }
  template <std::size_t... I>
  constexpr auto before(std::index_sequence<I...>) const {
    using Rule = TupleElement<sizeof...(I), Tuple<Parts...>>;
    if constexpr (explain_stages_then_rule<Rule, TupleElement<I, Tuple<Parts...>>...>())
      return StagesThenRule<Rule, TupleElement<I, Tuple<Parts...>>...>(get<sizeof...(I)>(parts), get<I>(parts)...);
  }
};

}  // namespace detail

template <class... Stages>
constexpr auto chain(Stages... stages) {
  if constexpr ((... || detail::is_rule<Stages>))
    return (detail::Composed<>{} + ... + stages).rule();
  else if constexpr (detail::explain_chain<Stages...>())
    return Chain<Stages...>(stages...);
}

}  // namespace algoperf
