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
  // rows: losses per example; each has the weight of its example.
  StepLosses(std::size_t capacity, std::size_t rows, std::size_t workers)
      : rows_(rows), weights_(capacity * rows), first_(capacity * rows), later_(capacity * rows), recorded_(workers) {}

  // Starts a step with these weights of examples.
  void start(const std::vector<float>& weights) {
    recorded_.assign(recorded_.size(), false);
    for (std::size_t i = 0; i < weights.size() * rows_; ++i) weights_[i] = static_cast<S>(weights[i / rows_]);
  }
  const S* weights() const { return weights_.data(); }
  std::vector<S>& first() { return first_; }
  // Returns the first losses of n examples, each the mean of its rows.
  const std::vector<S>& of_examples(std::size_t n) {
    if (rows_ == 1) return first_;
    means_.resize(weights_.size() / rows_);
    for (std::size_t i = 0; i < n; ++i) {
      S total = 0;
      for (std::size_t r = 0; r < rows_; ++r) total += first_[i * rows_ + r];
      means_[i] = total / static_cast<S>(rows_);
    }
    return means_;
  }

  // Reads the losses of a worker's examples [begin, begin + n) from the backend's memory. Returns their weighted sum
  // over `divisor`.
  template <class Backend>
  double record(const Backend& backend, std::size_t worker, std::size_t begin, std::size_t n, const S* from,
                double divisor) {
    std::vector<S>& losses = recorded_[worker] ? later_ : first_;
    recorded_[worker] = true;
    backend.read(n * rows_, from, losses.data() + begin * rows_);
    double total = 0;
    for (std::size_t i = begin * rows_; i < (begin + n) * rows_; ++i)
      total += static_cast<double>(weights_[i]) * static_cast<double>(losses[i]);
    return divisor > 0 ? total / divisor : 0;
  }

 private:
  std::size_t rows_;
  std::vector<S> weights_, first_, later_, means_;
  std::vector<bool> recorded_;  // per worker: whether its first losses are recorded
};

}  // namespace algoperf::detail
