// ChainState: what a chain keeps between steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../core/archive.hpp"
#include "../core/layout.hpp"
#include "../core/math.hpp"
#include "program.hpp"

namespace algoperf {

namespace detail {

// The name of slot j of a stage in checkpoints: its own `slot_names` (torch's names where torch has the rule), or
// slot_j.
template <class Stage>
std::string slot_name(std::size_t j) {
  if constexpr (requires { Stage::slot_names[0]; })
    return Stage::slot_names[j];
  else
    return "slot_" + std::to_string(j);
}

// The states of one matrix stage, one a region; nothing for other stages.
template <class Backend, class Stage, bool = is_matrix<Stage>>
struct MatrixStates {};
template <class Backend, class Stage>
struct MatrixStates<Backend, Stage, true> {
  std::vector<typename Stage::template State<Backend>> regions;
};

// Whether a matrix stage's state is visited tensor by tensor, within the tensor's name.
template <class States, class Archive, class Backend>
concept NamesTensors = requires(States& states, Archive& archive, const Backend& backend, const Layout& layout,
                                const Region& region) {
  states.regions[0].visit(archive, backend, layout, region, std::size_t{});
};

}  // namespace detail

// What a chain remembers: its slots (one array per slot and region), its stages' scalars, its matrix stages' states and
// the last step's count. Made by Chain::state; plain data otherwise, and copyable.
template <class Backend, class... Stages>
class ChainState {
 public:
  using Scalar = typename Backend::Scalar;
  using Program = algoperf::Program<Scalar, Stages...>;

  ChainState(const Backend& backend, const Layout& layout, std::vector<Region> regions)
      : backend_(backend), layout_(layout), regions_(std::move(regions)) {
    std::size_t elements = 0, tensors = 0, chunks = 0;
    for (const Region& region : regions_) {
      RegionWork<Scalar>& work = work_.emplace_back();
      work.begin = region.begin;
      work.size = region.size();
      for (const TensorHandle handle : region.tensors) {
        const TensorPlace place = layout.place_of(handle);
        const Shape& shape = layout.spec(handle).shape;
        work.tensors.push_back({place.offset - region.begin, {place.size, shape.rows(), shape.cols()}});
        chunks = math::max(chunks, place.size / sum_chunk + 1);
      }
      elements += work.size;
      tensors = math::max(tensors, work.tensors.size());
    }
    slots_ = backend_.template array<Scalar>(Program::slots * elements);
    tensor_sums_.resize(tensors * Program::max_sums);
    chunk_sums_.resize(chunks * Program::max_sums);
  }

  // Step::t of the last step; 0 before the first.
  std::uint64_t t() const { return t_; }
  const Layout& layout() const { return layout_; }
  const Backend& backend() const { return backend_; }
  const std::vector<Region>& regions() const { return regions_; }
  // Slot j of region r: an array of the region's size, in the backend's memory.
  Scalar* slot(std::size_t r, std::size_t j) {
    place_slots();
    return work_[r].slots + j * work_[r].size;
  }
  // The scalars of stage I (rules/concept.hpp).
  template <std::size_t I>
  const auto& scalars() const {
    return get<I>(scalars_);
  }
  // Values of state, padding included: slots times parameters, rounded up.
  std::size_t size() const { return slots_.size(); }

  template <class Archive>
  void visit(Archive& archive) {
    archive.number("t", t_);
    place_slots();
    for (std::size_t r = 0; r < regions_.size(); ++r)
      for (std::size_t i = 0; i < regions_[r].tensors.size(); ++i) {
        const TensorSpec& spec = layout_.spec(regions_[r].tensors[i]);
        const ArchiveScope scope(archive, spec.name);
        std::vector<std::string> names;
        const auto visit_stage = [&]<class St>(const St*) {
          for (std::size_t j = 0; j != detail::slots_of<St>(); ++j) {
            Scalar* const slot = work_[r].slots + names.size() * work_[r].size + work_[r].tensors[i].offset;
            names.push_back(unused_name(detail::slot_name<St>(j), names));
            archive.array(names.back().c_str(), backend_, slot, spec.shape.size());
          }
        };
        (visit_stage(static_cast<const Stages*>(nullptr)), ...);
        for_each_index<sizeof...(Stages)>([&](auto stage) {
          using MatrixStates = TupleElement<stage, decltype(matrix_)>;
          if constexpr (detail::NamesTensors<MatrixStates, Archive, Backend>)
            get<stage>(matrix_).regions[r].visit(archive, backend_, layout_, regions_[r], i);
        });
      }
    for_each_index<sizeof...(Stages)>([&](auto i) {
      if constexpr (detail::HasScalars<TupleElement<i, Tuple<Stages...>>>)
        visit_scoped(archive, "stage_" + std::to_string(i), get<i>(scalars_));
      if constexpr (detail::is_matrix<TupleElement<i, Tuple<Stages...>>>)
        for (std::size_t r = 0; r < regions_.size(); ++r)
          visit_scoped(archive, "stage_" + std::to_string(i) + "_region_" + std::to_string(r),
                       get<i>(matrix_).regions[r]);
    });
  }

 private:
  template <class... Others>
  friend class Chain;
  template <class AnyBackend, class Ports, class... Others>
  friend struct ChainWork;
  static constexpr std::size_t sum_chunk = 1024;  // no backend sums in smaller chunks

  // Two stages of a kind: momentum_buffer, momentum_buffer_2, ...
  static std::string unused_name(const std::string& name, const std::vector<std::string>& used) {
    std::string candidate = name;
    for (int i = 2; std::find(used.begin(), used.end(), candidate) != used.end(); ++i)
      candidate = name + "_" + std::to_string(i);
    return candidate;
  }

  // Slot arrays move when a state is copied, so pointers are set at each use.
  void place_slots() {
    Scalar* next = slots_.data();
    for (RegionWork<Scalar>& work : work_) {
      work.slots = next;
      next += Program::slots * work.size;
    }
  }

  Backend backend_;
  Layout layout_;
  std::vector<Region> regions_;
  std::vector<RegionWork<Scalar>> work_;
  typename Backend::template Array<Scalar> slots_;
  Tuple<detail::ScalarsOf<Stages>...> scalars_;
  Tuple<detail::MatrixStates<Backend, Stages>...> matrix_;
  std::vector<double> tensor_sums_, chunk_sums_;
  std::uint64_t t_ = 0;
};

}  // namespace algoperf
