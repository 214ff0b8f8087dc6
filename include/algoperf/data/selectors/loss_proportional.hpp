// LossProportional: draws examples with high loss more often and weights them so that gradients stay unbiased.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../state/archive.hpp"
#include "../concept.hpp"
#include "sum_tree.hpp"

namespace algoperf {

// p_i = (1 - mix) l_i / sum_j l_j + mix / N,  weight_i = 1 / (N p_i),  so that E[weight_i g_i] is the mean of all g
// and no weight is above 1 / mix. l_i is the last known loss of example i, smoothed over the visits to that example:
// l_i <- memory l_i + (1 - memory) loss. Draws are independent, with replacement, from a sum tree in O(log N).
//   batch    examples in a batch, at least 1
//   mix      (0, 1]: the fraction of uniform draws; 1 is WithReplacement
//   memory   [0, 1): 0 keeps the last loss
//   initial  (0, 1e100]: the loss assumed for an example not seen yet; choose it above a typical loss so that every
//            example is visited soon
// Source: loss as the measure of importance, Katharopoulos and Fleuret 2018, "Not All Samples Are Created Equal",
// arXiv:1803.00942 (who compare it with their bound on the gradient's norm, recomputed on a large batch); losses kept
// from earlier visits and the sum tree, Schaul et al. 2016, arXiv:1511.05952. Departures: uniform mixing replaces
// Schaul's exponents alpha and beta, and weights are never divided by their maximum, which would bias the mean.
// Cost: 16 to 32 bytes per example.
struct LossProportional {
  std::size_t batch = 128;
  std::uint64_t seed = 1;
  double mix = 0.2;
  double memory = 0;
  double initial = 10;

  class State {
   public:
    State(RandomKey key, std::size_t size, double loss) : key_(key), random_(key), size_(size), initial_(loss) {}

    // Created on first use, so that a checkpoint that declares a huge size does not cause an allocation before its data
    // have been found.
    const SumTree& losses() const {
      if (losses_.size() != size_) losses_ = SumTree(size_, initial_);
      return losses_;
    }

    template <class Archive>
    void visit(Archive& archive) {
      std::uint64_t counter = random_.counter();
      archive.number("counter", counter);
      if constexpr (Archive::reading) expect_values<double>(archive, "losses", size_);
      losses();
      archive.array("losses", losses_.weights(), size_);
      if constexpr (Archive::reading) {
        random_ = RandomStream(key_, counter);
        losses_.rebuild();
      }
    }

   private:
    friend LossProportional;
    RandomKey key_;
    RandomStream random_;
    std::size_t size_;
    double initial_;
    mutable SumTree losses_;
  };

  State state(std::size_t size) const {
    constexpr std::uint64_t tag = 0x696D706F7274;  // "import"
    require(batch >= 1, "LossProportional: batch is 0, expected at least 1");
    require(mix > 0 && mix <= 1, "LossProportional: mix is ", mix, ", expected (0, 1]");
    require(memory >= 0 && memory < 1, "LossProportional: memory is ", memory, ", expected [0, 1)");
    require(initial > 0 && initial <= 1e100, "LossProportional: initial is ", initial, ", expected (0, 1e100]");
    require(size >= 1 && size <= UINT32_MAX, "LossProportional: there are ", size, " examples, expected 1 to ",
            UINT32_MAX);
    return State(RandomKey{seed}.fold(tag), size, initial);
  }

  // Returns the probability that a draw of the next selection is example i.
  double probability(const State& state, std::size_t i) const {
    const double n = static_cast<double>(state.size_), total = state.losses().total();
    return total > 0 ? (1 - mix) * state.losses()[i] / total + mix / n : 1 / n;
  }

  void select(State& state, Step, Selection& selection) const {
    const std::uint32_t size = static_cast<std::uint32_t>(state.size_);
    const double total = state.losses().total();
    selection.indices.resize(batch);
    selection.weights.resize(batch);
    for (std::size_t k = 0; k < batch; ++k) {
      const bool uniform = state.random_.uniform_double() < mix || !(total > 0);
      const std::uint32_t i = uniform
                                  ? state.random_.below(size)
                                  : static_cast<std::uint32_t>(state.losses().find(fraction(state.random_) * total));
      selection.indices[k] = i;
      selection.weights[k] = static_cast<float>(1 / (size * probability(state, i)));
    }
  }

  // losses[k] is the unweighted loss of example selection.indices[k]. Throws Error if a loss is negative, NaN,
  // infinite or above 1e100.
  template <class Losses>
  void feedback(State& state, const Selection& selection, const Losses& losses) const {
    for (std::size_t k = 0; k < selection.indices.size(); ++k) {
      const std::uint32_t i = selection.indices[k];
      const double loss = static_cast<double>(losses[k]);
      require(loss >= 0 && loss <= 1e100, "LossProportional: the loss of example ", i, " is ", loss,
              ", expected [0, 1e100]");
      state.losses_.set(i, memory * state.losses()[i] + (1 - memory) * loss);
    }
  }

 private:
  // Uniform in [0, 1) with 53 bits: 32 would not reach every leaf of a large tree.
  static double fraction(RandomStream& random) {
    const std::uint64_t high = random.bits(), low = random.bits();
    return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
  }
};

}  // namespace algoperf
