#pragma once

#include <cstddef>
#include <initializer_list>

#include "../core/config.hpp"

namespace algoperf {

// A fixed-capacity list such as {30, 60, 80}, a plain value that a constexpr schedule can hold. Items beyond the
// capacity are counted but not stored; the schedule's check() rejects such a list.
template <class T>
struct Few {
  static constexpr std::size_t capacity = 16;

  T items[capacity] = {};
  std::size_t size = 0;  // number of items given, which may exceed the capacity

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
