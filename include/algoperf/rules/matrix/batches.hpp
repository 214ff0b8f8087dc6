// Batches: items such as matrices, grouped by shape. Each group is one batch for the backend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "../../core/math.hpp"

namespace algoperf::detail {

class Batches {
 public:
  using Extents = std::pair<std::size_t, std::size_t>;  // rows, columns

  Batches() = default;
  explicit Batches(const std::vector<Extents>& items) : order_(items.size()) {
    for (std::size_t i = 0; i < items.size(); ++i) order_[i] = i;
    std::stable_sort(order_.begin(), order_.end(),
                     [&items](std::size_t a, std::size_t b) { return items[a] < items[b]; });
    for (std::size_t i = 1; i <= items.size(); ++i)
      if (i == items.size() || items[order_[i]] != items[order_[i - 1]]) ends_.push_back(i);
  }

  // Returns how many items the backend works on at a time; each of them needs separate scratch. This is the backend's
  // concurrency() if some group has at least that many items, otherwise 1 (0 without items).
  std::size_t concurrency(const auto& backend) const {
    std::size_t most = 0, begin = 0;
    for (const std::size_t end : ends_) most = math::max(most, end - std::exchange(begin, end));
    return most >= backend.concurrency() ? backend.concurrency() : math::min(most, std::size_t{1});
  }

  // Calls f(backend, slot, i) for every item i. Calls that run at the same time have different slots in [0, slots).
  template <class Backend, class F>
  void run(const Backend& backend, std::size_t slots, const F& f) const {
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      backend.run_concurrently(slots, end - begin, [&](const Backend& one, std::size_t slot, std::size_t i) {
        f(one, slot, order_[begin + i]);
      });
      begin = end;
    }
  }

 private:
  std::vector<std::size_t> order_, ends_;
};

}  // namespace algoperf::detail
