// ShuffledEpochs: visits every example once per epoch, in a new random order each epoch. The usual selector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../concept.hpp"

namespace algoperf {

// What happens to an epoch's last batch when the batch size does not divide the number of examples.
enum class LastBatch : std::uint8_t {
  keep,  // a smaller batch: every example is used in every epoch
  drop,  // skipped: all batches have the same size
};

// Batch k of an epoch is the entries [k batch, (k + 1) batch) of the epoch's permutation, all with weight 1. The
// permutation is a pure function of (seed, epoch): a Fisher-Yates shuffle (Durstenfeld 1964, Algorithm 235) driven by
// Philox.
//   batch  examples in a batch, at least 1 (with LastBatch::drop, at most the number of examples)
// Cost: 4 bytes per example; one shuffle per epoch.
struct ShuffledEpochs {
  std::size_t batch = 128;
  std::uint64_t seed = 1;
  LastBatch last = LastBatch::keep;

  class State {
   public:
    State(std::uint64_t seed, std::size_t size) : seed_(seed), size_(size) {}

    std::uint64_t epoch() const { return epoch_; }      // completed epochs
    std::size_t position() const { return position_; }  // examples already selected in the current epoch
    // Returns the current epoch's permutation. It is created on first use, so that a checkpoint that declares a huge
    // number of examples does not cause an allocation.
    const std::vector<std::uint32_t>& order() const {
      if (order_.size() != size_) shuffle();
      return order_;
    }

    template <class Archive>
    void visit(Archive& archive) {
      std::uint64_t size = size_, position = position_;
      archive.number("size", size);
      archive.number("epoch", epoch_);
      archive.number("position", position);
      if constexpr (Archive::reading) {
        require(size == size_, "ShuffledEpochs: the archive is for ", size, " examples, expected ", size_);
        require(position <= size, "ShuffledEpochs: the archive's position is ", position, ", expected [0, ", size, "]");
        position_ = static_cast<std::size_t>(position);
        order_.clear();
      }
    }

   private:
    friend ShuffledEpochs;

    void next_epoch() {
      ++epoch_;
      position_ = 0;
      shuffle();
    }

    void shuffle() const;

    std::uint64_t seed_, epoch_ = 0;
    std::size_t size_, position_ = 0;
    mutable std::vector<std::uint32_t> order_;
  };

  State state(std::size_t size) const;

  std::string warning(std::size_t size) const;

  void select(State& state, Step, Selection& selection) const;
};

#if ALGOPERF_DEFINES_COMPILED

ALGOPERF_COMPILED void ShuffledEpochs::State::shuffle() const {
  order_.resize(size_);
  constexpr std::uint64_t tag = 0x73687566666C65;  // "shuffle"
  RandomStream random(RandomKey{seed_}.fold(tag).fold(epoch_));
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = order_.size(); i > 1; --i)
    std::swap(order_[i - 1], order_[random.below(static_cast<std::uint32_t>(i))]);
}

ALGOPERF_COMPILED ALGOPERF_COLD ShuffledEpochs::State ShuffledEpochs::state(std::size_t size) const {
  require(batch >= 1, "ShuffledEpochs: batch is 0, expected at least 1");
  require(size >= 1 && size <= UINT32_MAX, "ShuffledEpochs: there are ", size, " examples, expected 1 to ", UINT32_MAX);
  require(last == LastBatch::keep || batch <= size, "ShuffledEpochs: batch is ", batch, ", expected at most the ", size,
          " examples when the last batch is dropped");
  return State(seed, size);
}

ALGOPERF_COMPILED ALGOPERF_COLD std::string ShuffledEpochs::warning(std::size_t size) const {
  if (batch <= size) return {};
  return "ShuffledEpochs: batch is " + std::to_string(batch) + ", but there are only " + std::to_string(size) +
         " examples, so every batch has " + std::to_string(size);
}

ALGOPERF_COMPILED void ShuffledEpochs::select(State& state, Step, Selection& selection) const {
  const std::size_t size = state.size_;
  if (state.position_ + (last == LastBatch::drop ? batch : 1) > size) state.next_epoch();
  const std::size_t left = size - state.position_, n = left < batch ? left : batch;
  const auto from = state.order().begin() + static_cast<std::ptrdiff_t>(state.position_);
  selection.indices.reserve(size < batch ? size : batch);  // the first batch after resuming may be partial
  selection.weights.reserve(size < batch ? size : batch);
  selection.indices.assign(from, from + static_cast<std::ptrdiff_t>(n));
  selection.weights.assign(n, 1.0f);
  state.position_ += n;
}

#endif  // ALGOPERF_DEFINES_COMPILED

}  // namespace algoperf
