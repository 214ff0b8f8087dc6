// StepLosses: the weights and losses of a step's examples, in host memory.
#pragma once

#include <cstddef>
#include <vector>

#include "../core/config.hpp"

namespace algoperf::detail {

// A rule may compute a worker's gradient more than once per step, at other parameters (sam, armijo). Only the losses of
// a worker's first gradient are kept for the selector; later ones go to a separate array.
template <class S>
class StepLosses {
 public:
  StepLosses(std::size_t capacity, std::size_t workers)
      : weights_(capacity), first_(capacity), later_(capacity), recorded_(workers) {}

  // Starts a step with these weights.
  void start(const std::vector<float>& weights) {
    recorded_.assign(recorded_.size(), false);
    for (std::size_t i = 0; i < weights.size(); ++i) weights_[i] = static_cast<S>(weights[i]);
  }
  const S* weights() const { return weights_.data(); }
  std::vector<S>& first() { return first_; }

  // Reads the losses of a worker's examples [begin, begin + n) from the backend's memory. Returns their weighted mean.
  template <class Backend>
  double record(const Backend& backend, std::size_t worker, std::size_t begin, std::size_t n, const S* from) {
    std::vector<S>& losses = recorded_[worker] ? later_ : first_;
    recorded_[worker] = true;
    backend.read(n, from, losses.data() + begin);
    double total = 0;
    for (std::size_t i = begin; i < begin + n; ++i)
      total += static_cast<double>(weights_[i]) * static_cast<double>(losses[i]);
    return total / static_cast<double>(n);
  }

 private:
  std::vector<S> weights_, first_, later_;
  std::vector<bool> recorded_;  // per worker: whether its first losses are recorded
};

}  // namespace algoperf::detail
