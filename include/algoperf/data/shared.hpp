// Shared: an immutable, reference-counted value. Copies share the value and the last copy frees it, so a data set and
// its slices can be copied and destroyed in any order and on any thread.
#pragma once

#include <cstddef>
#include <utility>

#include "../core/config.hpp"

namespace algoperf {

// A reference-counted pointer to a constant T: std::shared_ptr<const T> without the cost of including <memory>. Counts
// with builtins, because <atomic> takes 4 % of the work of parsing algoperf.hpp.
template <class T>
class Shared {
 public:
  explicit Shared(T value) : block_(new Block{std::move(value)}) {}
  Shared(const Shared& other) noexcept : block_(other.block_) {
    __atomic_add_fetch(&block_->owners, std::size_t{1}, __ATOMIC_RELAXED);
  }
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() {
    if (__atomic_sub_fetch(&block_->owners, std::size_t{1}, __ATOMIC_ACQ_REL) == 0) delete block_;
  }

  const T& operator*() const { return block_->value; }
  const T* operator->() const { return &block_->value; }

 private:
  struct Block {
    const T value;
    std::size_t owners = 1;
  };
  Block* block_;  // never null, because moving copies
};

}  // namespace algoperf
