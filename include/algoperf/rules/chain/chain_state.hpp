// ChainState: the state that a chain keeps between steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../core/layout.hpp"
#include "../../state/archive.hpp"
#include "program.hpp"
#include "state_arrays.hpp"

namespace algoperf {
namespace detail {

// Returns the name of slot j of a stage in checkpoints: slot_names[j] if the stage declares it (torch's name if torch
// has the rule), otherwise slot_j.
template <class Stage>
std::string slot_name(std::size_t j) {
  if constexpr (requires { Stage::slot_names[0]; })
    return Stage::slot_names[j];
  else
    return "slot_" + std::to_string(j);
}

// The states of one matrix stage, one per region. Empty for other stages.
template <class Backend, class Stage, bool = is_matrix<Stage>>
struct MatrixStates {};
template <class Backend, class Stage>
struct MatrixStates<Backend, Stage, true> {
  std::vector<typename Stage::template State<Backend>> regions;
};

// Whether a matrix stage's state is visited tensor by tensor, within the scope of the tensor's name.
template <class States, class Archive, class Backend>
concept NamesTensors = requires(States& states, Archive& archive, const Backend& backend, const Layout& layout,
                                const Region& region) {
  states.regions[0].visit(archive, backend, layout, region, std::size_t{});
};

// Appends `name`, with a number if it is already present: momentum_buffer, momentum_buffer_2, ...
inline void add_unused_name(std::vector<std::string>& names, const std::string& name) {
  const auto used = [&](const std::string& candidate) {
    for (const std::string& each : names)
      if (each == candidate) return true;
    return false;
  };
  std::string unused = name;
  for (int i = 2; used(unused); ++i) unused = name + "_" + std::to_string(i);
  names.push_back(unused);
}
template <class Stage>
void add_slot_names(std::vector<std::string>& names) {
  for (std::size_t j = 0; j != slots_of<Stage>(); ++j) add_unused_name(names, slot_name<Stage>(j));
}

// The argument `also` of visit_tensors for a chain without matrix stages: visits nothing besides slots.
struct NothingElse {
  void operator()(std::size_t, std::size_t) const {}
};

}  // namespace detail

// The state of a chain: its slots (one array per slot and region), its stages' scalars, its matrix stages' states and
// the count of the last step. Created by Chain::state. Copyable.
template <class Backend, class... Stages>
class ChainState : public detail::StateArrays<Backend> {
  using Arrays = detail::StateArrays<Backend>;

 public:
  using Scalar = typename Backend::Scalar;
  using Program = algoperf::Program<Scalar, Stages...>;

  ChainState(const Backend& backend, const Layout& layout, std::vector<Region> regions)
      : Arrays(backend, layout, std::move(regions), Program::slots, Program::max_sums) {}

  // Returns Step::t of the last step, or 0 before the first.
  std::uint64_t t() const { return t_; }
  // Sets t(), for steps counted on a device.
  void recount(std::uint64_t t) { t_ = t; }
  // Returns the scalars of stage I (rules/concept.hpp).
  template <std::size_t I>
  const auto& scalars() const {
    return get<I>(scalars_);
  }

  template <class Archive>
  void visit(Archive& archive) {
    archive.number("t", t_);
    std::vector<std::string> names;
    (detail::add_slot_names<Stages>(names), ...);
    if constexpr ((detail::is_matrix<Stages> || ...))
      this->visit_tensors(archive, names, [&](std::size_t r, std::size_t i) {
        for_each_index<sizeof...(Stages)>([&](auto stage) {
          if constexpr (detail::NamesTensors<TupleElement<stage, decltype(matrix_)>, Archive, Backend>)
            get<stage>(matrix_).regions[r].visit(archive, this->backend(), this->layout(), this->regions()[r], i);
        });
      });
    else
      this->visit_tensors(archive, names, detail::NothingElse{});
    for_each_index<sizeof...(Stages)>([&](auto i) {
      if constexpr (detail::HasScalars<TupleElement<i, Tuple<Stages...>>>)
        visit_scoped(archive, "stage_" + std::to_string(i), get<i>(scalars_));
      if constexpr (detail::is_matrix<TupleElement<i, Tuple<Stages...>>>)
        for (std::size_t r = 0; r < get<i>(matrix_).regions.size(); ++r)
          visit_scoped(archive, "stage_" + std::to_string(i) + "_region_" + std::to_string(r),
                       get<i>(matrix_).regions[r]);
    });
  }

 private:
  template <class... Others>
  friend class Chain;
  template <class AnyBackend, class Ports, class Guard, class... Others>
  friend struct ChainWork;

  Tuple<detail::ScalarsOf<Stages>...> scalars_;
  Tuple<detail::MatrixStates<Backend, Stages>...> matrix_;
  std::uint64_t t_ = 0;
};

}  // namespace algoperf
