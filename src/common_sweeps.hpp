// The sweeps of common update rules, in a fixed order: those that algoperf::gemm contains for several instruction sets.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "algoperf/backend/work.hpp"
#include "algoperf/core/tuple.hpp"
#include "algoperf/rules/chain/chain.hpp"
#include "algoperf/rules/recipes/adamw.hpp"
#include "algoperf/rules/recipes/lamb.hpp"
#include "algoperf/rules/recipes/lars.hpp"
#include "algoperf/rules/recipes/lion.hpp"
#include "algoperf/rules/recipes/nadam.hpp"
#include "algoperf/rules/recipes/sgd.hpp"
#include "algoperf/rules/stages/adagrad.hpp"
#include "algoperf/rules/stages/adam.hpp"
#include "algoperf/rules/stages/clip_by_global_norm.hpp"
#include "algoperf/rules/stages/rmsprop.hpp"

namespace algoperf::detail {

// Calls f.operator()<then, Kernel, Stage>() for each sweep of a chain. Stage is void if the sweep measures nothing.
template <class S, class F, class... Stages>
constexpr void for_each_sweep_of(const Chain<Stages...>&, const F& f) {
  using Steps = Program<S, Stages...>;
  for_each_index<Steps::list.pass_count>([&](auto i) {
    using Kernel = std::remove_const_t<decltype(std::declval<Steps>().template fused<i>(nullptr, TensorFacts{}))>;
    constexpr Then then = then_of(Steps::list.passes[i]);
    if constexpr (Steps::sum_count(i) == 0)
      f.template operator()<then, Kernel, void>();
    else
      f.template operator()<then, Kernel, decltype(std::declval<Steps>().template closing<i>())>();
  });
}

// The same for all common rules, each with and without clipping. Masks do not depend on their predicate: a kernel only
// holds its result.
template <class S, class F>
constexpr void for_each_common_sweep(const F& f) {
  const auto of_rules = [&](const auto&... rules) {
    (for_each_sweep_of<S>(rules, f), ...);
    (for_each_sweep_of<S>(chain(ClipByGlobalNorm{}, rules), f), ...);
  };
  of_rules(sgd(), momentum(), nesterov(), adagrad(), rmsprop(), adam(), nadam(), adamw(), adamw({}, decayable), lion(),
           lion({}, decayable), lamb(), lamb({}, decayable), lars(), lars({}, decayable));
}

// Returns of_sweep.operator()<then, Kernel, Stage>() for each of them.
template <class S, class Result, class F>
constexpr auto for_common_sweeps(const F& of_sweep) {
  constexpr std::size_t count = [] {
    std::size_t n = 0;
    for_each_common_sweep<S>([&n]<Then, class, class>() { ++n; });
    return n;
  }();
  std::array<Result, count> results{};
  std::size_t n = 0;
  for_each_common_sweep<S>([&]<Then then, class Kernel, class Stage>() {
    results[n++] = of_sweep.template operator()<then, Kernel, Stage>();
  });
  return results;
}

}  // namespace algoperf::detail
