// Program: a chain, split at compile time into passes.
//
// A pass runs consecutive fused kernels over every parameter and closes in one of four ways:
//   apply            applies the update (p += u)
//   measure_tensor   stores u in the gradient arena and computes a stage's sums per tensor
//   measure_all      the same, with sums over all tensors
//   transform        stores u in the gradient arena and runs a matrix stage on whole matrices
// A measuring stage closes one pass, and its kernel runs in the next pass, when its sums are available. Element stages
// join these passes and need none of their own. If the kernels of a pass that measures are stateless and need no sums,
// they run again in the next pass, and u is not stored. If a matrix stage leaves u in factors (backend/work.hpp), the
// following passes multiply u by the factors as they read it, until one of them stores u. A chain in front of another
// rule (stages_then_rule.hpp) ends by storing u and does not apply it.
#pragma once

#include <cstddef>

#include "../../backend/work.hpp"
#include "../../core/layout.hpp"
#include "../concept.hpp"
#include "fused.hpp"

namespace algoperf {

// The passes of a chain, computed at compile time, and its phases: a phase is a sequence of passes between two barriers
// over all tensors.
template <class... Stages>
struct PassList {
  static constexpr std::size_t stage_count = sizeof...(Stages);
  PassShape passes[stage_count + 1];
  PhaseShape phases[stage_count + 1];
  std::size_t pass_count = 0, phase_count = 0;
  std::size_t first_slot[stage_count + 2] = {};  // index of each stage's first slot in the chain
  std::size_t sums[stage_count + 1] = {};        // number of sums of each stage

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
    bool opened = false;    // a stage of [first, i) needs sums
    bool factored = false;  // u may be in factors
    for (std::size_t i = 0; i < stage_count; ++i) {
      if (!matrix[i] && !measuring[i]) continue;
      const Closing closing = matrix[i]     ? Closing::transform
                              : over_all[i] ? Closing::measure_all
                                            : Closing::measure_tensor;
      // Stateless kernels run again in the next pass: this costs less than storing u and reading it. Kernels that need
      // sums do not, since the next pass has the sums of stage i only.
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

// A chain at one step, on the tensors of one region: each element stage as its kernel, each measuring stage as a
// Measured, which needs its sums to become a kernel. A value that can be copied to a device.
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

  // Everything needed to build the Program of any step, on host or device. A value that can be copied to a device.
  using Plan = Tuple<detail::Placed<Stages>...>;
  static Plan plan(const Tuple<Stages...>& stages, const Tuple<detail::ScalarsOf<Stages>...>& scalars,
                   const TensorSpec& spec) {
    return [&]<std::size_t... J>(std::index_sequence<J...>)->Plan {
      return {{{detail::placed<Stages>(get<J>(stages), spec, get<J>(scalars))}...}};
    }
    (std::index_sequence_for<Stages...>{});
  }
  ALGOPERF_HD Program(const Plan& plan, Step step) : Program(plan, step, std::index_sequence_for<Stages...>{}) {}

  // The index of a pass's first slot in the chain, its number of slots, and the number of sums its closing stage
  // measures.
  static constexpr std::size_t first_slot(std::size_t pass) { return list.first_slot[list.passes[pass].first]; }
  static constexpr std::size_t slot_count(std::size_t pass) {
    return list.first_slot[list.passes[pass].last] - first_slot(pass);
  }
  ALGOPERF_HD static constexpr std::size_t sum_count(std::size_t pass) { return list.sums[list.passes[pass].stage]; }

  // Returns the kernel of pass I. `opening` are the sums of the measuring stage that closed the previous pass, if any.
  template <std::size_t I>
  ALGOPERF_HD auto fused(const double* opening, const TensorFacts& facts) const {
    constexpr PassShape shape = list.passes[I];
    return fuse_from<shape.first>(opening, facts, std::make_index_sequence<shape.last - shape.first>{});
  }

  // Whether pass I's closing stage measures this region (a mask may exclude it).
  template <std::size_t I>
  ALGOPERF_HD bool measures() const {
    return get<list.passes[I].stage>(kept_).included;
  }

  // Returns the terms that pass I sums. T is S or a vector of S.
  template <std::size_t I, class T>
  ALGOPERF_HD auto measure(T u, T p) const {
    return get<list.passes[I].stage>(kept_).stage.measure(u, p);
  }

  // Returns the stage that measures in pass I.
  template <std::size_t I>
  auto closing() const {
    return get<list.passes[I].stage>(kept_).stage;
  }

 private:
  // An element stage's kernel, or a measuring stage's Measured.
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
