// StepLosses: the weights and losses of a step's examples.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "../backend/concept.hpp"
#include "../core/example_rows.hpp"

namespace algoperf::detail {

// A rule may compute a worker's gradient more than once per step, at other parameters (sam, armijo). Only the losses of
// a worker's first gradient are kept for the selector; later ones go to a separate array.
template <class Backend>
class StepLosses {
  using S = typename Backend::Scalar;

 public:
  // capacity: the maximum number of examples of a step, with padding.
  StepLosses(std::size_t workers, std::size_t capacity) : capacity_(capacity), recorded_(workers) {}

  // Starts a step: gives each row the weight of its example, and sends the weights of rows to the backend's memory.
  // Rows of padding have weight 0. If the loss divides by the number of all rows (is_mean), the weights are multiplied
  // by all rows / rows without padding, which cancels the padding.
  void start(const Backend& backend, std::span<const float> weights, const ExampleRows& rows, std::size_t padded_size,
             bool is_mean) {
    const std::size_t n = rows.begin(padded_size), without_padding = rows.begin(weights.size());
    scale_ = is_mean && without_padding > 0 ? static_cast<double>(n) / static_cast<double>(without_padding) : 1;
    recorded_.assign(recorded_.size(), false);
    for (std::vector<S>* const of_rows : {&weights_, &first_, &later_}) of_rows->resize(n);
    for (std::size_t e = 0; e < padded_size; ++e) {
      const S weight = e < weights.size() ? static_cast<S>(scale_ * static_cast<double>(weights[e])) : S(0);
      for (std::size_t i = rows.begin(e); i < rows.end(e); ++i) weights_[i] = weight;
    }
    if (sent_weights_.size() < n) {  // the first step, or more rows on a ragged axis than before
      sent_weights_ = {};
      sent_weights_ = backend.template array<S>(rows.begins == nullptr ? rows.begin(capacity_) : n + n / 4);
    }
    send(backend, n, weights_.data(), sent_weights_.data());
  }
  // Returns the weights of the losses, in the backend's memory.
  const S* weights() const { return sent_weights_.data(); }
  std::vector<S>& first() { return first_; }
  // Returns the first losses of n examples, each the mean of its rows, or 0 if it has none.
  const std::vector<S>& of_examples(std::size_t n, const ExampleRows& rows) {
    if (rows.begins == nullptr && rows.each == 1 && first_.size() == n) return first_;
    means_.assign(n, S(0));
    for (std::size_t e = 0; e < n; ++e) {
      for (std::size_t i = rows.begin(e); i < rows.end(e); ++i) means_[e] += first_[i];
      if (rows.count(e) > 0) means_[e] /= static_cast<S>(rows.count(e));
    }
    return means_;
  }

  // Reads the losses of a worker's n examples from `begin` on from the backend's memory. Returns their sum, weighted by
  // the examples' weights, over `divisor`.
  double record(const Backend& backend, std::size_t worker, const ExampleRows& rows, std::size_t begin, std::size_t n,
                const S* from, double divisor) {
    std::vector<S>& losses = recorded_[worker] ? later_ : first_;
    recorded_[worker] = true;
    const std::size_t first = rows.begin(begin), end = rows.begin(begin + n);
    if (end > first) backend.read(end - first, from, losses.data() + first);
    double total = 0;
    for (std::size_t i = first; i < end; ++i)
      total += static_cast<double>(weights_[i]) * static_cast<double>(losses[i]);
    return divisor > 0 ? total / (scale_ * divisor) : 0;
  }

 private:
  std::size_t capacity_;
  double scale_ = 1;  // of the weights
  std::vector<S> weights_, first_, later_, means_;
  typename Backend::template Array<S> sent_weights_;
  std::vector<bool> recorded_;  // per worker: whether its first losses are recorded
};

}  // namespace algoperf::detail
