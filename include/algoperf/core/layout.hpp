// Layout: the table of named tensors in one flat arena. Region: a run of adjacent tensors that a rule treats alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "describe_shape.hpp"
#include "element_count.hpp"
#include "error.hpp"
#include "name_index.hpp"
#include "tensor_spec.hpp"

namespace algoperf {

// Identifies a tensor of a layout, independent of its offset in the arena.
struct TensorHandle {
  std::uint32_t index = 0;
};

// The location of a tensor: elements [offset, offset + size) of every arena (values, gradients, each slot).
struct TensorPlace {
  std::size_t offset = 0;
  std::size_t size = 0;
};

// Elements [begin, end) of every arena, which hold `tensors` in this order. Gaps between tensors are padding, where
// gradients and values are zero and remain zero.
struct Region {
  std::size_t begin = 0, end = 0;
  std::vector<TensorHandle> tensors;
  std::size_t size() const { return end - begin; }
};

// A key per tensor; a rule treats tensors with equal keys alike. Each predicate of the rule mixes its result into the
// key, so the groups of equal keys are the common refinement of all groups of the rule.
class GroupKey {
 public:
  void mix(std::uint64_t ways, std::uint64_t which) { value_ = value_ * ways + which; }
  friend bool operator==(GroupKey, GroupKey) = default;
  friend bool operator<(GroupKey a, GroupKey b) { return a.value_ < b.value_; }

 private:
  std::uint64_t value_ = 0;
};

class Layout {
 public:
  // Tensors start at multiples of `alignment` elements. The unit is elements, not bytes, so that one table serves
  // float, double and bfloat16. Use 1 to describe your own packed memory.
  static constexpr std::size_t default_alignment = 16;
  explicit Layout(std::size_t alignment = default_alignment) : alignment_(alignment) {
    require(alignment > 0 && alignment < max_elements, "Layout: alignment is ", alignment,
            ", expected at least 1 and less than 2^48");
  }

  // Appends a tensor. Throws Error if the name is already used, if the shape has no elements, or if the arena would
  // have max_elements or more.
  TensorHandle add(TensorSpec spec);

  // Marks every tensor after the first `count` as fixed: rules do not receive it, and no step updates it.
  void fix_since(std::size_t count) {
    for (std::size_t i = count; i < specs_.size(); ++i) specs_[i].fixed = true;
  }

  // Reorders tensors (stable sort) so that those `rule` treats alike are adjacent, which gives fewer regions and
  // passes. Trained tensors come first, then buffers, then fixed tensors. Handles remain valid. Call it before creating
  // arenas.
  template <class Rule>
  ALGOPERF_COLD void arrange_for(const Rule& rule) {
    std::vector<TensorHandle> sorted;
    std::vector<GroupKey> keys, distinct;
    for (const TensorSpec& spec : specs_) {
      keys.push_back(spec.trained() ? group_of(rule, spec) : GroupKey{});
      bool seen = !spec.trained();
      for (const GroupKey key : distinct) seen = seen || key == keys.back();
      if (!seen) distinct.push_back(keys.back());
    }
    for (const GroupKey key : distinct)
      for (const TensorHandle handle : order_)
        if (spec(handle).trained() && keys[handle.index] == key) sorted.push_back(handle);
    for (const bool fixed : {false, true})
      for (const TensorHandle handle : order_)
        if (!spec(handle).trained() && spec(handle).fixed == fixed) sorted.push_back(handle);
    order_ = std::move(sorted);
    size_ = 0;
    for (const TensorHandle handle : order_) place(handle);
  }

  // Returns the maximal runs of adjacent trained tensors that `rule` treats alike.
  template <class Rule>
  ALGOPERF_COLD std::vector<Region> regions_for(const Rule& rule) const {
    std::vector<Region> regions;
    GroupKey previous;
    for (const TensorHandle handle : order_) {
      if (!spec(handle).trained()) continue;
      const GroupKey key = group_of(rule, spec(handle));
      append(regions, handle, key == previous);
      previous = key;
    }
    return regions;
  }
  // Returns the maximal runs of buffers that steps update.
  std::vector<Region> buffers() const;

  const TensorSpec& spec(TensorHandle handle) const { return specs_[handle.index]; }
  const TensorPlace& place_of(TensorHandle handle) const { return places_[handle.index]; }
  // Returns all tensors in arena order.
  const std::vector<TensorHandle>& tensors() const { return order_; }
  // Iterates over the specs of all tensors in arena order: for (const TensorSpec& tensor : layout).
  class Iterator {
   public:
    using value_type = TensorSpec;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const Layout* layout, std::size_t at) : layout_(layout), at_(at) {}
    const TensorSpec& operator*() const { return layout_->spec(layout_->order_[at_]); }
    const TensorSpec* operator->() const { return &**this; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return {layout_, at_++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Layout* layout_ = nullptr;
    std::size_t at_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, order_.size()}; }
  // Returns the number of elements of an arena, including padding.
  std::size_t size() const { return size_; }
  // Returns the number of elements before the first tensor that is not trained. Throws Error if a trained tensor
  // follows it, which can only happen before arrange_for().
  std::size_t trained_size() const;
  // Returns the number of elements of the trained tensors, excluding padding.
  std::size_t parameters() const;
  bool contains(const std::string& name) const;
  TensorHandle find(const std::string& name) const;

 private:
  template <class Rule>
  static GroupKey group_of(const Rule& rule, const TensorSpec& spec) {
    GroupKey key;
    rule.group(spec, key);
    return key;
  }
  // Appends a tensor to the last region if it is `alike` and adjacent to it, else to a new region.
  void append(std::vector<Region>& regions, TensorHandle handle, bool alike) const;
  std::size_t padded_end(TensorHandle handle) const {
    const TensorPlace& p = places_[handle.index];
    return p.offset + (p.size + alignment_ - 1) / alignment_ * alignment_;
  }
  void place(TensorHandle handle) {
    places_[handle.index] = {size_, specs_[handle.index].shape.size()};
    size_ = padded_end(handle);
  }

  std::size_t alignment_, size_ = 0;
  std::vector<TensorSpec> specs_;    // by handle
  std::vector<TensorPlace> places_;  // by handle
  std::vector<TensorHandle> order_;  // by offset
  detail::NameIndex index_;          // handles by name
};

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED ALGOPERF_COLD TensorHandle Layout::add(TensorSpec spec) {
  require(spec.shape.size() > 0, "Layout: tensor '", spec.name, "' has no elements");
  require(spec.shape.size() < max_elements, "Layout: tensor '", spec.name, "' of shape ", describe(spec.shape),
          " has 2^48 elements or more");
  require(!contains(spec.name), "Layout: the tensor name '", spec.name, "' is used twice");
  const TensorHandle handle{static_cast<std::uint32_t>(specs_.size())};
  places_.push_back({});
  order_.push_back(handle);
  specs_.push_back(std::move(spec));
  index_.add_last(specs_);
  place(handle);
  require(size_ < max_elements, "Layout: the tensors up to '", specs_.back().name, "' have 2^48 elements or more");
  return handle;
}

ALGOPERF_COMPILED ALGOPERF_COLD std::vector<Region> Layout::buffers() const {
  std::vector<Region> regions;
  for (const TensorHandle handle : order_)
    if (spec(handle).buffer && !spec(handle).fixed) append(regions, handle, true);
  return regions;
}

ALGOPERF_COMPILED ALGOPERF_COLD std::size_t Layout::trained_size() const {
  std::size_t end = size_;
  for (const TensorHandle handle : order_) {
    const bool before = end == size_;
    if (!spec(handle).trained())
      end = before ? place_of(handle).offset : end;
    else
      require(before, "Layout: '", spec(handle).name, "' is trained but comes after a tensor that is not: call ",
              "arrange_for(rule) before creating arenas");
  }
  return end;
}

ALGOPERF_COMPILED ALGOPERF_COLD std::size_t Layout::parameters() const {
  std::size_t n = 0;
  for (const TensorHandle handle : order_) n += spec(handle).trained() ? place_of(handle).size : 0;
  return n;
}

ALGOPERF_COMPILED ALGOPERF_COLD bool Layout::contains(const std::string& name) const {
  return index_.find(name, specs_) != detail::NameIndex::none;
}

ALGOPERF_COMPILED ALGOPERF_COLD TensorHandle Layout::find(const std::string& name) const {
  const std::size_t found = index_.find(name, specs_);
  require(found != detail::NameIndex::none, "Layout: there is no tensor '", name, "'");
  return {static_cast<std::uint32_t>(found)};
}

ALGOPERF_COMPILED ALGOPERF_COLD void Layout::append(std::vector<Region>& regions, TensorHandle handle,
                                                    bool alike) const {
  const std::size_t begin = place_of(handle).offset;
  if (regions.empty() || !alike || regions.back().end != begin) regions.push_back({begin, 0, {}});
  regions.back().tensors.push_back(handle);
  regions.back().end = padded_end(handle);
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf
