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

  explicit DeferredLoss(const Backend& backend)
      : loss_(backend.template array<double>(1)), diverged_(backend.template array<std::int64_t>(1)) {}

  // Computes the loss of step t from n weights and losses and, unless null, the weights of a Weighted loss (BatchLoss).
  // Multiplies it by this rank's share of the batch.
  void record(const Backend& backend, std::size_t n, const Scalar* weights, const Scalar* losses, const Scalar* field,
              std::uint64_t t, double share = 1) {
    const BatchLoss<Scalar> mean{
        n, weights, losses, field, loss_.data(), diverged_.data(), static_cast<std::int64_t>(t), share};
    backend.for_each_row(1, n, mean);
  }
  // Replaces the loss by the sum of all ranks' losses, so that all ranks suppress the same steps.
  void add_over_ranks(const Backend& backend, const Ranks& ranks, std::uint64_t t) {
    if (of_ranks_.size() == 0) {
      of_ranks_ = backend.template array<double>(ranks.size());
      for (std::size_t r = 0; r < ranks.size(); ++r) received_.push_back({r * sizeof(double), sizeof(double)});
      sent_.assign(ranks.size(), {0, sizeof(double)});
    }
    exchange_(backend, ranks, loss_.data(), sent_, of_ranks_.data(), received_);
    backend.for_each_row(
        1, ranks.size(),
        LossOfRanks{ranks.size(), of_ranks_.data(), loss_.data(), diverged_.data(), static_cast<std::int64_t>(t)});
  }
  // Returns a guard that suppresses every step after the first loss that is not finite.
  Unless guard() const { return Unless{diverged_.data()}; }

  // Waits for the loss recorded last and returns it.
  double read(const Backend& backend) const {
    double loss = 0;
    backend.read(1, loss_.data(), &loss);
    return loss;
  }
  // Returns the first step whose loss was not finite since the last call, or 0.
  std::uint64_t take_diverged(const Backend& backend) {
    std::int64_t step = 0;
    backend.read(1, diverged_.data(), &step);
    if (step != 0) backend.fill(1, diverged_.data(), std::int64_t{0});
    return static_cast<std::uint64_t>(step);
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
  explicit NoDeferredLoss(const Backend&) {}
};

}  // namespace algoperf::detail
