#pragma once

#include "../core/require.hpp"
#include "concept.hpp"

namespace algoperf {

// A batch that grows instead of a rate that falls: b(i) = first factor^floor(i / every), rounded to a whole number, and
// at most `most`. every is at least 1, factor is in [1, inf), 1 <= first <= most.
// Smith, Kindermans, Ying & Le 2018 (arXiv:1711.00489): a batch `factor` times as large does to SGD's noise what a rate
// `factor` times as small does. Once the batch is at its most, the rate must fall after all: rate_factor(i) is what is
// then left to multiply it by.
//
// A batch schedule gives numbers of examples, which a selector takes:
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

  // 1 until the batch stops growing, then 1 / factor^(growths missed).
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
