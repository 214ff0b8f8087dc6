// Memory that a thread keeps from one product to the next.
#pragma once

#include <cstddef>
#include <new>

#include "../../../core/config.hpp"

namespace algoperf::detail::tiled {

// Grows, never shrinks, and does not keep its contents when it grows. Memory is aligned to cache lines.
template <class S>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  // Throws std::bad_alloc.
  S* of_size(std::size_t size) {
    if (size > size_) {
      release();
      data_ = nullptr;
      size_ = 0;
      data_ = static_cast<S*>(::operator new(size * sizeof(S), alignment));
      size_ = size;
    }
    return data_;
  }

 private:
  static constexpr std::align_val_t alignment{64};
  void release() {
    if (data_ != nullptr) ::operator delete(data_, alignment);
  }

  S* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace algoperf::detail::tiled
