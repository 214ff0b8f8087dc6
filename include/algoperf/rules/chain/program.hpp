// Program: a chain cut, at compile time, into passes.
//
// A pass runs a stretch of fused kernels over every parameter and closes in one of four ways: it applies the update
// (p += u), or it stores u (where the gradient was) and measures a stage's sums per tensor or over all tensors, or it
// stores u and hands whole matrices to a matrix stage. A measuring stage closes one pass and, with its sums known,
// opens the next; so element stages cost no pass of their own. Stateless stages before a measuring one run in both
// passes. What a matrix stage leaves in factors, passes multiply as they read, until one stores u. A chain
// before another rule (stages_then_rule.hpp) ends with u stored, and applies nothing.
#pragma once

#include <cstddef>

#include "../../backend/work.hpp"
#include "../../core/layout.hpp"
#include "../concept.hpp"
#include "fused.hpp"

namespace algoperf {

template <class... Stages>
struct PassList {
  static constexpr std::size_t stage_count = sizeof...(Stages);
  PassShape passes[stage_count + 1];
  PhaseShape phases[stage_count + 1];
  std::size_t pass_count = 0, phase_count = 0;
  std::size_t first_slot[stage_count + 2] = {};  // of each stage, among the slots of the chain
  std::size_t sums[stage_count + 1] = {};        // each stage measures

  consteval PassList() {
    constexpr bool matrix[] = {detail::is_matrix<Stages>..., false};
    constexpr bool measuring[] = {detail::is_measuring<Stages>..., false};
    constexpr bool over_all[] = {scope_is_all<Stages>()..., false};
    constexpr bool leaves_factors[] = {detail::LeavesFactors<Stages>..., false};
    constexpr bool ends_chain = (... || detail::EndsChain<Stages>);
    constexpr std::size_t slots[] = {detail::slots_of<Stages>()..., 0}, terms[] = {detail::sums_of<Stages>()..., 0};
    for (std::size_t i = 0; i <= stage_count; ++i) {
      sums[i] = terms[i];
      first_slot[i + 1] = first_slot[i] + slots[i];
    }
    std::size_t first = 0;
    bool opened = false;    // a stage of [first, i) waits for sums
    bool factored = false;  // u is in factors
    for (std::size_t i = 0; i < stage_count; ++i) {
      if (!matrix[i] && !measuring[i]) continue;
      const Closing closing = matrix[i]     ? Closing::transform
                              : over_all[i] ? Closing::measure_all
                                            : Closing::measure_tensor;
      // Kernels without state, not opened by sums of their own, are cheaper run again than their u stored and read.
      const bool again = !matrix[i] && !opened && first_slot[first] == first_slot[i];
      const bool stores = (first < i || (matrix[i] && factored)) && !again;
      passes[pass_count++] = {first, i, i, closing, stores, factored};
      factored = matrix[i] ? leaves_factors[i] : factored && !stores;
      opened = !matrix[i];
      if (!again) first = matrix[i] ? i + 1 : i;
    }
    if (!ends_chain) passes[pass_count++] = {first, stage_count, stage_count, Closing::apply, false, factored};
    for (std::size_t i = 0, begin = 0; i < pass_count; ++i)
      if (passes[i].closing != Closing::measure_tensor) {
        phases[phase_count++] = {begin, i + 1};
        begin = i + 1;
      }
  }

 private:
  template <class Stage>
  static consteval bool scope_is_all() {
    if constexpr (detail::is_measuring<Stage>)
      return Stage::over == Over::all;
    else
      return false;
  }
};

// The chain at one step, on the tensors of one region: every element stage has become its kernel, every measuring stage
// waits for its sums. A value that may travel to a device.
template <class S, class... Stages>
class Program {
 public:
  using Scalar = S;
  static constexpr PassList<Stages...> list{};
  static constexpr std::size_t slots = (std::size_t{0} + ... + detail::slots_of<Stages>());
  static constexpr std::size_t max_sums = [] {
    constexpr std::size_t sums[] = {1, detail::sums_of<Stages>()...};
    std::size_t most = 1;
    for (const std::size_t n : sums) most = n > most ? n : most;
    return most;
  }();

  // What it is made of at any step, wherever that is: a value that may travel to a device, too.
  using Plan = Tuple<detail::Placed<Stages>...>;
  static Plan plan(const Tuple<Stages...>& stages, const Tuple<detail::ScalarsOf<Stages>...>& scalars,
                   const TensorSpec& spec) {
    return [&]<std::size_t... J>(std::index_sequence<J...>)->Plan {
      return {{{detail::placed<Stages>(get<J>(stages), spec, get<J>(scalars))}...}};
    }
    (std::index_sequence_for<Stages...>{});
  }
  ALGOPERF_HD Program(const Plan& plan, Step step) : Program(plan, step, std::index_sequence_for<Stages...>{}) {}

  // Where a pass's slots begin among all slots of the chain, and how many it has; the sums its closing stage measures.
  static constexpr std::size_t first_slot(std::size_t pass) { return list.first_slot[list.passes[pass].first]; }
  static constexpr std::size_t slot_count(std::size_t pass) {
    return list.first_slot[list.passes[pass].last] - first_slot(pass);
  }
  ALGOPERF_HD static constexpr std::size_t sum_count(std::size_t pass) { return list.sums[list.passes[pass].stage]; }

  // The kernel of pass I. `opening` are the sums of the measuring stage that opens the pass, if one does.
  template <std::size_t I>
  ALGOPERF_HD auto fused(const double* opening, const TensorFacts& facts) const {
    constexpr PassShape shape = list.passes[I];
    return fuse_from<shape.first>(opening, facts, std::make_index_sequence<shape.last - shape.first>{});
  }

  // Whether pass I's closing stage measures this region at all (a mask may leave it out).
  template <std::size_t I>
  ALGOPERF_HD bool measures() const {
    return get<list.passes[I].stage>(kept_).included;
  }

  // The terms pass I adds up. T is S or a vector of S.
  template <std::size_t I, class T>
  ALGOPERF_HD auto measure(T u, T p) const {
    return get<list.passes[I].stage>(kept_).stage.measure(u, p);
  }

  // The stage that measures in pass I.
  template <std::size_t I>
  auto closing() const {
    return get<list.passes[I].stage>(kept_).stage;
  }

 private:
  // Of an element stage its kernel, of a measuring one a Measured.
  template <class Stage>
  using Kept = decltype(std::declval<const detail::Placed<Stage>&>().template at<S>(Step{}));
  template <std::size_t... J>
  ALGOPERF_HD Program(const Plan& plan, Step step, std::index_sequence<J...>)
      : kept_{{{get<J>(plan).template at<S>(step)}...}} {}

  template <std::size_t First, std::size_t... J>
  ALGOPERF_HD auto fuse_from([[maybe_unused]] const double* opening, [[maybe_unused]] const TensorFacts& facts,
                             std::index_sequence<J...>) const {
    return fuse(kernel<First + J>(opening, facts)...);
  }
  template <std::size_t J>
  ALGOPERF_HD auto kernel([[maybe_unused]] const double* opening, [[maybe_unused]] const TensorFacts& facts) const {
    if constexpr (detail::is_measuring<TupleElement<J, Tuple<Stages...>>>)
      return get<J>(kept_)(opening, facts);
    else
      return get<J>(kept_);
  }

  Tuple<Kept<Stages>...> kept_;
};

}  // namespace algoperf
