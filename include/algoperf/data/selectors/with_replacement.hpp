// WithReplacement: draws every example of every batch uniformly and independently, as the theory of SGD assumes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../concept.hpp"

namespace algoperf {

// All weights are 1.
//   batch  examples in a batch, at least 1; may exceed the size of the data set
struct WithReplacement {
  std::size_t batch = 128;
  std::uint64_t seed = 1;

  class State {
   public:
    State(RandomKey key, std::size_t size) : key_(key), random_(key), size_(static_cast<std::uint32_t>(size)) {}

    template <class Archive>
    void visit(Archive& archive) {
      std::uint64_t size = size_, counter = random_.counter();
      archive.number("size", size);
      archive.number("counter", counter);
      if constexpr (Archive::reading) {
        require(size == size_, "WithReplacement: the archive is for ", size, " examples, expected ", size_);
        random_ = RandomStream(key_, counter);
      }
    }

   private:
    friend WithReplacement;
    RandomKey key_;
    RandomStream random_;
    std::uint32_t size_;
  };

  State state(std::size_t size) const {
    constexpr std::uint64_t tag = 0x7265706C616365;  // "replace"
    require(batch >= 1, "WithReplacement: batch is 0, expected at least 1");
    require(size >= 1 && size <= UINT32_MAX, "WithReplacement: there are ", size, " examples, expected 1 to ",
            UINT32_MAX);
    return State(RandomKey{seed}.fold(tag), size);
  }

  void select(State& state, Step, Selection& selection) const {
    selection.indices.resize(batch);
    for (std::uint32_t& index : selection.indices) index = state.random_.below(state.size_);
    selection.weights.assign(batch, 1.0f);
  }
};

}  // namespace algoperf
