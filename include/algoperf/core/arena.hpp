// Arena: one flat, aligned, zeroed block of host memory. Values, gradients, slots and activations are one arena each.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "config.hpp"

namespace algoperf {

template <class T>
class Arena {
  static_assert(std::is_trivially_copyable_v<T>, "an Arena holds plain values");

 public:
  static constexpr std::size_t alignment = 64;  // bytes: a cache line, and the widest vector

  Arena() = default;
  explicit Arena(std::size_t size) : size_(size) {
    if (size == 0) return;
    const std::size_t bytes = (size * sizeof(T) + alignment - 1) / alignment * alignment;
    data_ = static_cast<T*>(std::aligned_alloc(alignment, bytes));
    if (data_ == nullptr) throw std::bad_alloc();
    std::memset(static_cast<void*>(data_), 0, bytes);
  }
  Arena(const Arena& other) : Arena(other.size_) {
    if (size_ > 0) std::memcpy(data_, other.data_, size_ * sizeof(T));
  }
  Arena(Arena&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Arena& operator=(Arena other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Arena() { std::free(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace algoperf
