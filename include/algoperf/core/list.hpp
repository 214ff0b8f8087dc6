// List: a growable array that works in constant expressions. std::vector of libstdc++ 12 does not under clang 14.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <utility>

#include "config.hpp"

namespace algoperf {

// T must be default-constructible. Elements move when the list grows, which invalidates pointers to them.
template <class T>
class List {
 public:
  constexpr List() = default;
  constexpr List(std::size_t count, const T& value) {
    for (std::size_t i = 0; i < count; ++i) push_back(value);
  }
  constexpr List(std::initializer_list<T> elements) {
    reserve(elements.size());
    for (const T& element : elements) push_back(element);
  }
  constexpr List(const List& other) {
    reserve(other.size_);
    for (const T& element : other) push_back(element);
  }
  constexpr List(List&& other) noexcept { swap(other); }
  constexpr List& operator=(List other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~List() { delete[] data_; }

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr T& operator[](std::size_t i) { return data_[i]; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }

  ALGOPERF_COLD constexpr void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    T* const larger = new T[capacity]();
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(data_[i]);
    delete[] data_;
    data_ = larger;
    capacity_ = capacity;
  }
  // `element` must not be in the list.
  constexpr void push_back(const T& element) {
    if (size_ == capacity_) reserve(size_ == 0 ? 8 : 2 * size_);
    data_[size_++] = element;
  }

 private:
  constexpr void swap(List& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace algoperf
