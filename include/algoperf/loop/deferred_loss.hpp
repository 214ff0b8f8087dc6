// DeferredLoss: the loss of a step, kept in an asynchronous backend's memory until the host reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../backend/guard.hpp"
#include "../combine/group/array_exchange.hpp"
#include "batch_loss.hpp"

namespace algoperf::detail {

// While the host has not read the loss, it cannot see that training has diverged. A flag beside the loss therefore
// suppresses every step after the first loss that is not finite.
template <class Backend>
class DeferredLoss {
 public:
  using Scalar = typename Backend::Scalar;

  // The first step whose loss was not finite, or 0, and the rank whose loss it was.
  struct Divergence {
    std::int64_t step = 0, rank = 0;
  };

  // ranks: their number
  DeferredLoss(const Backend& backend, std::size_t ranks)
      : loss_(backend.template array<double>(1)),
        of_ranks_(backend.template array<double>(ranks)),
        diverged_(backend.template array<std::int64_t>(2)),
        sent_(ranks, ByteRange{0, sizeof(double)}) {
    for (std::size_t r = 0; r < ranks; ++r) received_.push_back({r * sizeof(double), sizeof(double)});
  }

  // Computes the loss of step t from n weights and losses and, unless null, the weights of a Weighted loss (BatchLoss).
  // Multiplies it by this rank's share of the batch.
  void record(const Backend& backend, std::size_t n, const Scalar* weights, const Scalar* losses, const Scalar* field,
              std::uint64_t t, double share) {
    const BatchLoss<Scalar> mean{
        n, weights, losses, field, loss_.data(), diverged_.data(), static_cast<std::int64_t>(t), share};
    backend.for_each_row(1, n, mean);
  }
  // Replaces the loss by the sum of all ranks' losses, so that all ranks suppress the same steps.
  void add_over_ranks(const Backend& backend, const Ranks& ranks, std::uint64_t t) {
    exchange_(backend, ranks, loss_.data(), sent_, of_ranks_.data(), received_);
    const LossOfRanks sum{ranks.size(), of_ranks_.data(), loss_.data(), diverged_.data(), static_cast<std::int64_t>(t)};
    backend.for_each_row(1, ranks.size(), sum);
  }
  // Returns a guard that suppresses every step after the first loss that is not finite.
  Unless guard() const { return Unless{diverged_.data()}; }

  // Waits for the loss recorded last and returns it.
  double read(const Backend& backend) const {
    double loss = 0;
    backend.read(1, loss_.data(), &loss);
    return loss;
  }
  // Returns the divergence since the last call.
  Divergence take_divergence(const Backend& backend) {
    std::int64_t found[2] = {};
    backend.read(2, diverged_.data(), found);
    if (found[0] != 0) backend.fill(2, diverged_.data(), std::int64_t{0});
    return {found[0], found[1]};
  }

 private:
  typename Backend::template Array<double> loss_, of_ranks_;
  typename Backend::template Array<std::int64_t> diverged_;
  std::vector<ByteRange> sent_, received_;
  ArrayExchange<Backend, double> exchange_;
};

// For backends whose losses are read immediately.
template <class Backend>
struct NoDeferredLoss {
  NoDeferredLoss(const Backend&, std::size_t) {}
};

}  // namespace algoperf::detail
