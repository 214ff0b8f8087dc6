// StateArrays: the memory of a chain's state. It depends on the number of slots and sums but not on the stages, so it
// is compiled once for all chains.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../../backend/work.hpp"
#include "../../core/layout.hpp"
#include "../../core/math.hpp"
#include "../../state/archive.hpp"

namespace algoperf::detail {

// One array per slot and region in the backend's memory, and host memory for sums. Copyable.
template <class Backend>
class StateArrays {
 public:
  using Scalar = typename Backend::Scalar;

  StateArrays(const Backend& backend, const Layout& layout, std::vector<Region> regions, std::size_t slots,
              std::size_t sums);

  const Layout& layout() const { return layout_; }
  const Backend& backend() const { return backend_; }
  const std::vector<Region>& regions() const { return regions_; }
  // Returns slot j of region r: an array of the region's size, in the backend's memory.
  Scalar* slot(std::size_t r, std::size_t j) {
    place_slots();
    return work_[r].slots + j * work_[r].size;
  }
  // Returns the number of values in the slots, padding included: slots times parameters, rounded up.
  std::size_t size() const { return slots_.size(); }

 protected:
  // Sets the pointers to the slots. Call it before each use of these pointers: in a copied state they still point to
  // the slots of the original.
  void place_slots() {
    Scalar* next = slots_.data();
    for (RegionWork<Scalar>& work : work_) {
      work.slots = next;
      next += slot_count_ * work.size;
    }
  }

  // For tensor i of each region r, within the scope of the tensor's name: visits the tensor's part of each slot by the
  // slot's name, then calls also(r, i).
  template <class Archive, class Also>
  void visit_tensors(Archive& archive, const std::vector<std::string>& slot_names, const Also& also) {
    place_slots();
    for (std::size_t r = 0; r < regions_.size(); ++r)
      for (std::size_t i = 0; i < regions_[r].tensors.size(); ++i) {
        const TensorSpec& spec = layout_.spec(regions_[r].tensors[i]);
        const ArchiveScope scope(archive, spec.name);
        std::size_t begin = work_[r].tensors[i].offset;
        for (const std::string& name : slot_names) {
          archive.array(name.c_str(), backend_, work_[r].slots + begin, spec.shape.size());
          begin += work_[r].size;
        }
        also(r, i);
      }
  }

  Backend backend_;
  Layout layout_;
  std::vector<Region> regions_;
  std::vector<RegionWork<Scalar>> work_;
  std::vector<double> tensor_sums_, chunk_sums_;

 private:
  static constexpr std::size_t sum_chunk = 1024;  // no backend sums in smaller chunks than this
  std::size_t slot_count_;
  typename Backend::template Array<Scalar> slots_;
};

template <class Backend>
ALGOPERF_COLD StateArrays<Backend>::StateArrays(const Backend& backend, const Layout& layout,
                                                std::vector<Region> regions, std::size_t slots, std::size_t sums)
    : backend_(backend), layout_(layout), regions_(std::move(regions)), slot_count_(slots) {
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
  slots_ = backend_.template array<Scalar>(slots * elements);
  tensor_sums_.resize(tensors * sums);
  chunk_sums_.resize(chunks * sums);
}

}  // namespace algoperf::detail
