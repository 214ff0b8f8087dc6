// Arena: one flat, aligned, zeroed block of host memory. Values, gradients, slots and activations are one arena each.
// Arenas of 1 MB or more request 2 MB pages from Linux, which speed up matrix products and a rule's passes over memory.
// They begin at different distances from the beginning of a page: on Zen 4, a pass that reads several arenas at the
// same distance can take 1.8 times as long, probably because their lines compete for the same banks of memory.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "config.hpp"
#include "element_count.hpp"
#include "error.hpp"

namespace algoperf {

namespace detail {
inline unsigned large_arenas = 0;  // of all types; changed atomically
}

template <class T>
class Arena {
  static_assert(std::is_trivially_copyable_v<T>, "algoperf: Arena<T> needs a trivially copyable T");

 public:
  static constexpr std::size_t alignment = 64;  // bytes: a cache line, and the widest vector

  Arena() = default;
  // Throws OutOfMemory if the elements cannot be allocated.
  explicit Arena(std::size_t size) : size_(size) {
    if (size == 0) return;
    if (size >= max_elements) fail_to_allocate(size, sizeof(T));
    const std::size_t unit = is_large() ? huge_page : alignment, first = is_large() ? next_distance() : 0;
    const std::size_t bytes = rounded_up(first + size * sizeof(T), unit);
    void* const block = std::aligned_alloc(unit, bytes);
    if (block == nullptr) fail_to_allocate(size, sizeof(T));
#if defined(MADV_HUGEPAGE)
    if (is_large()) (void)madvise(block, bytes, MADV_HUGEPAGE);  // the kernel may decline
#endif
    data_ = reinterpret_cast<T*>(static_cast<char*>(block) + first);
    std::memset(static_cast<void*>(data_), 0, size * sizeof(T));
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
  ~Arena() { std::free(memory()); }

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
  static constexpr std::size_t huge_page = std::size_t{1} << 21, large = huge_page / 2;  // bytes
  bool is_large() const { return size_ * sizeof(T) >= large; }
  // Returns the distance of a large arena's data from the beginning of its memory: one of 16 in turn, all less than a
  // page. They are multiples of 4 KB: multiples of 4352 bytes cost 3 % while arenas fit into a cache.
  static std::size_t next_distance() {
    return __atomic_fetch_add(&detail::large_arenas, 1u, __ATOMIC_RELAXED) % 16 * (3 * 4096);
  }
  void* memory() const {
    if (!is_large()) return data_;
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(data_) & ~(huge_page - 1));
  }
  static constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace algoperf
