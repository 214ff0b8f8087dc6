// Chain: the rule that chain(...) returns (chain.hpp), split into passes at compile time. The type only: include
// chain.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/layout.hpp"
#include "chain_state.hpp"
#include "chain_work.hpp"
#include "own_memory.hpp"

namespace algoperf {

template <class... Stages>
class Chain {
 public:
  template <class Backend>
  using State = ChainState<Backend, Stages...>;

  constexpr explicit Chain(Stages... stages) : stages_(tuple_of(stages...)) {}

  // Mixes into `key` whether each mask includes the tensor (core/layout.hpp).
  void group(const TensorSpec& spec, GroupKey& key) const {
    for_each_index<sizeof...(Stages)>([&](auto i) {
      if constexpr (detail::HasMask<TupleElement<i, Tuple<Stages...>>>) key.mix(2, get<i>(stages_).includes(spec));
    });
  }

  // Returns a new state for the tensors of `layout`: all zeros, except the slots of stages with `initial`. Throws
  // Error, naming the hyperparameter, if one is out of range.
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout) const {
    return state(backend, layout, layout.regions_for(*this));
  }
  // Same, for the given regions only (partition gives each of its rules a subset).
  template <class Backend>
  State<Backend> state(const Backend& backend, const Layout& layout, std::vector<Region> regions) const {
    check();
    State<Backend> state(backend, layout, std::move(regions));
    for_each_index<sizeof...(Stages)>([&](auto i) {
      using Stage = TupleElement<i, Tuple<Stages...>>;
      if constexpr (detail::HasInitial<Stage>)
        for (std::size_t r = 0; r < state.regions_.size(); ++r)
          for (std::size_t j = 0; j < detail::slots_of<Stage>(); ++j)
            state.backend_.fill(state.regions_[r].size(), state.slot(r, PassList<Stages...>{}.first_slot[i] + j),
                                static_cast<typename Backend::Scalar>(get<i>(stages_).initial(j)));
      if constexpr (detail::is_matrix<Stage>)
        for (const Region& region : state.regions_)
          get<i>(state.matrix_).regions.push_back(get<i>(stages_).state(state.backend_, state.layout_, region));
    });
    return state;
  }

  // Throws Error if a stage's hyperparameter is out of range.
  void check() const {
    for_each_index<sizeof...(Stages)>([&](auto i) {
      if constexpr (detail::HasCheck<TupleElement<i, Tuple<Stages...>>>) get<i>(stages_).check();
    });
  }

  // Whether u is stored in the gradient arena between passes.
  static constexpr bool stores_updates = [] {
    constexpr PassList<Stages...> list{};
    bool stores = false;
    for (std::size_t i = 0; i < list.pass_count; ++i)
      stores = stores || list.passes[i].stores || list.passes[i].closing == Closing::transform;
    return stores;
  }();

  // Whether a device can compute the constants of a step whose count the host does not have. True if every stage is
  // trivially copyable, and none keeps scalars on the host, has a scheduled hyperparameter or works on matrices.
  static constexpr bool counts_on_device = (... && detail::counts_on_device<Stages>);

  // values += update(gradients). May overwrite the gradients. Step::t must count from 1.
  template <class Backend, class Evaluate, class Ports, class Guard>
  void step(const Update<typename Backend::Scalar, Evaluate, Ports, Guard>& update, State<Backend>& state,
            Step step) const {
    static_assert(Guard::none || AsynchronousBackend<Backend>);
    static_assert(!Guard::counts || counts_on_device);
    static_assert(Ports::none || !stores_updates,
                  "algoperf: this chain stores u between passes, so it cannot use ports");
    require(step.t > 0, "step: t is 0, expected a count from 1");
    require(step.learning_rate >= 0 && step.learning_rate <= __DBL_MAX__, "step: learning_rate is ", step.learning_rate,
            " at t = ", step.t, ", expected a finite number of at least 0");
    state.place_slots();
    for (std::size_t r = 0; r < state.regions_.size(); ++r) {
      state.work_[r].u = update.gradients + state.regions_[r].begin;
      state.work_[r].p = update.values + state.regions_[r].begin;
    }
    for_each_index<sizeof...(Stages)>([&](auto i) {
      using Stage = TupleElement<i, Tuple<Stages...>>;
      if constexpr (detail::HasScalars<Stage> && detail::is_element<Stage>)
        get<i>(stages_).advance(step, get<i>(state.scalars_));
    });
    ChainWork<Backend, Ports, Guard, Stages...> work{stages_, step, state, update.ports, update.guard};
    state.backend_.run(work);
    if constexpr (!Guard::counts) state.t_ = step.t;
  }

  // Same, on the caller's memory, which must follow the state's layout (Layout(1) describes packed tensors).
  template <class Backend>
  void step(std::span<typename Backend::Scalar> gradients, std::span<typename Backend::Scalar> values,
            State<Backend>& state, Step now) const {
    step(detail::own_memory(gradients, values, state.layout_, NoEvaluate{}), state, now);
  }
  template <class Backend, class G, class V>
  requires detail::OtherElements<typename Backend::Scalar, G, V>
  void step(G&, V&, State<Backend>&, Step) const { detail::explain_elements<typename Backend::Scalar>(); }

  // Writes the parameters to use for evaluation to `out`, an arena: those that a stage keeps for this purpose (such as
  // an average), otherwise `values`. Changes no value of the state.
  static constexpr bool has_evaluation_values = (... || detail::HasEvaluation<Stages>);
  template <class Backend>
  void evaluation_values(const typename Backend::Scalar* values, State<Backend>& state,
                         typename Backend::Scalar* out) const {
    using S = typename Backend::Scalar;
    state.place_slots();
    for (std::size_t r = 0; r < state.regions_.size(); ++r) {
      const RegionWork<S>& work = state.work_[r];
      const std::size_t begin = state.regions_[r].begin;
      state.backend_.copy(work.size, values + begin, out + begin);
      if (state.t_ == 0) continue;
      const TensorSpec& spec = state.layout_.spec(state.regions_[r].tensors.front());
      for_each_index<sizeof...(Stages)>([&](auto i) {
        if constexpr (detail::HasEvaluation<TupleElement<i, Tuple<Stages...>>>)
          if (detail::includes(get<i>(stages_), spec))
            state.backend_.map(get<i>(stages_).template evaluation<S>(Step{state.t_, 0}), work.size, out + begin,
                               static_cast<const S*>(work.slots + PassList<Stages...>{}.first_slot[i] * work.size));
      });
    }
  }

  constexpr const Tuple<Stages...>& stages() const { return stages_; }

 private:
  Tuple<Stages...> stages_;
};

}  // namespace algoperf
