#pragma once

#include <cstddef>

#include "../matrix/matrix_work.hpp"
#include "chain_state.hpp"

namespace algoperf {

// One step of a chain: the argument of a backend's run().
template <class Backend, class Ports, class GuardType, class... Stages>
struct ChainWork {
  using Guard = GuardType;
  using State = ChainState<Backend, Stages...>;
  using Program = typename State::Program;
  using S = typename Backend::Scalar;

  const Tuple<Stages...>& stages;
  Step step;
  State& state;
  Ports ports;
  Guard guard;

  std::size_t regions() const { return state.regions_.size(); }
  const RegionWork<S>& region(std::size_t r) const { return state.work_[r]; }
  typename Program::Plan plan(std::size_t r) const {
    return Program::plan(stages, state.scalars_, state.layout_.spec(state.regions_[r].tensors.front()));
  }
  Program program(std::size_t r) const { return Program(plan(r), step); }

  // Whether stage I, which measures over all tensors, computes its Scalars from the sums.
  template <std::size_t I>
  static constexpr bool keeps_sums = detail::HasScalars<TupleElement<I, Tuple<Stages...>>>;
  // Passes the sums over all tensors to stage I if it keeps them.
  template <std::size_t I>
  void measured(const double* totals) {
    using Stage = TupleElement<I, Tuple<Stages...>>;
    if constexpr (keeps_sums<I>) get<I>(stages).advance(step, detail::sums_from<Stage>(totals), get<I>(state.scalars_));
  }

  // Host memory for the sums of each tensor and of each chunk.
  double* tensor_sums() { return state.tensor_sums_.data(); }
  double* chunk_sums() { return state.chunk_sums_.data(); }

  // Runs matrix stage I on region r.
  template <std::size_t I>
  void transform(std::size_t r) {
    RegionWork<S>& work = state.work_[r];
    get<I>(stages).transform(MatrixWork<Backend>{state.backend_, step, state.layout_, state.regions_[r], work.u, work.p,
                                                 work.tensors.data()},
                             get<I>(state.matrix_).regions[r]);
  }
};

}  // namespace algoperf
