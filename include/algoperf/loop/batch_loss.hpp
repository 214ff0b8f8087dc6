// BatchLoss and LossOfRanks: a batch's mean weighted loss, computed in the backend's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/config.hpp"
#include "../core/finite.hpp"

namespace algoperf::detail {

// Writes share sum(weights losses) / n to *loss, or share sum(weights losses) / sum(row_weights) if row_weights is not
// null. Writes `step` to *diverged if this is the first loss that is not finite.
template <class S>
struct BatchLoss {
  std::size_t n;
  const S* weights;
  const S* losses;
  const S* row_weights;
  double* loss;
  std::int64_t* diverged;
  std::int64_t step;
  double share;  // this rank's part of the batch

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t) const {
    const std::int64_t before = *diverged;
    const S* const weight = weights;
    const S* const of = losses;
    const double total = team.template sum<double>(
        n, [weight, of](std::size_t i) { return static_cast<double>(weight[i]) * static_cast<double>(of[i]); });
    double divisor = static_cast<double>(n);
    if (const S* const w = row_weights; w != nullptr)
      divisor = team.template sum<double>(n, [w](std::size_t i) { return static_cast<double>(w[i]); });
    const bool finite = finite_bits(total);
    *loss = !finite ? total : divisor > 0 ? share * (total / divisor) : 0;
    *diverged = before == 0 && !finite ? step : before;
  }
};

// Writes the sum of the ranks' losses, each multiplied by its share, to *loss. If this is the first loss that is not
// finite, writes `step` to diverged[0] and the first rank whose loss it is to diverged[1].
struct LossOfRanks {
  std::size_t ranks;
  const double* losses;
  double* loss;
  std::int64_t* diverged;
  std::int64_t step;

  template <class Team>
  ALGOPERF_HD void operator()(const Team& team, std::size_t) const {
    const bool first = diverged[0] == 0 || diverged[0] == step;
    const double* const of = losses;
    const double total = team.template sum<double>(ranks, [of](std::size_t r) { return of[r]; });
    *loss = total;
    if (!first || finite_bits(total)) return;
    std::size_t rank = 0;
    while (rank + 1 < ranks && finite_bits(of[rank])) ++rank;
    diverged[0] = step;
    diverged[1] = static_cast<std::int64_t>(rank);
  }
};

}  // namespace algoperf::detail
