// NameIndex: finds the position of an entry in a list by name, in constant time. The caller owns the list. Its entries
// have a unique member `name` and are only ever appended.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config.hpp"

namespace algoperf::detail {

class NameIndex {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  template <class List>
  std::size_t find(const std::string& name, const List& list) const {
    return slots_.empty() ? none : slots_[slot_of(name, list)];
  }
  // Indexes the last entry of the list. Call it after each append.
  template <class List>
  void add_last(const List& list) {
    if (2 * list.size() <= slots_.size()) return take(list.size() - 1, list);
    slots_.assign(slots_.empty() ? 8 : 2 * slots_.size(), none);  // half of the slots remain free
    for (std::size_t place = 0; place < list.size(); ++place) take(place, list);
  }

 private:
  template <class List>
  void take(std::size_t place, const List& list) {
    slots_[slot_of(list[place].name, list)] = place;
  }
  // Returns the slot that holds the name, or the free slot for it. slots_.size() is a power of two.
  template <class List>
  std::size_t slot_of(const std::string& name, const List& list) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = std::hash<std::string>{}(name)&mask;
    while (slots_[at] != none && list[slots_[at]].name != name) at = (at + 1) & mask;
    return at;
  }
  std::vector<std::size_t> slots_;
};

}  // namespace algoperf::detail
