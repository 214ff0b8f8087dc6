#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// A batch size that grows instead of a learning rate that falls: b(i) = first factor^floor(i / every), rounded to an
// integer, and at most `most`. every is at least 1, factor is in [1, inf), 1 <= first <= most.
// Smith, Kindermans, Ying & Le 2018 (arXiv:1711.00489): multiplying the batch by `factor` has the same effect on SGD's
// noise as dividing the learning rate by `factor`. Once the batch has reached `most`, the learning rate must fall:
// multiply it by rate_factor(i).
//
// A schedule of batch sizes is used through a selector:
//   scheduled_batch(ShuffledEpochs{.seed = 1}, GrowingBatch{.first = 128, .most = 4096})
struct GrowingBatch {
  std::uint64_t first = 128;
  double factor = 2;
  std::uint64_t every = 1000;
  std::uint64_t most = 8192;

  void check() const {
    require(first >= 1 && first <= most, "GrowingBatch: first is ", first, ", expected 1 to most, which is ", most);
    require(detail::is_finite(factor) && factor >= 1, "GrowingBatch: factor is ", factor, ", expected [1, inf)");
    require(every >= 1, "GrowingBatch: every is 0, expected at least 1");
  }

  std::uint64_t operator()(std::uint64_t step) const {
    const double size = wanted(step);
    return size < static_cast<double>(most) ? static_cast<std::uint64_t>(size + 0.5) : most;
  }

  // Returns 1 while first factor^floor(i / every) is at most `most`, then `most` divided by that value.
  double rate_factor(std::uint64_t step) const {
    const double size = wanted(step);
    return size <= static_cast<double>(most) ? 1 : static_cast<double>(most) / size;
  }

 private:
  double wanted(std::uint64_t step) const {
    return static_cast<double>(first) * __builtin_pow(factor, static_cast<double>(step / every));
  }
};

}  // namespace algoperf
