#pragma once

#include <cstddef>
#include <initializer_list>

#include "../core/config.hpp"

namespace algoperf {

// A short list as a plain value, so that a schedule may hold one and still be a constant: {30, 60, 80}. What does not
// fit is counted and not kept; the schedule's check() refuses it.
template <class T>
struct Few {
  static constexpr std::size_t capacity = 16;

  T items[capacity] = {};
  std::size_t size = 0;  // as given

  constexpr Few() = default;
  constexpr Few(std::initializer_list<T> list) {
    for (const T& item : list) {
      if (size < capacity) items[size] = item;
      ++size;
    }
  }

  constexpr const T* begin() const { return items; }
  constexpr const T* end() const { return items + (size < capacity ? size : capacity); }
};

}  // namespace algoperf
