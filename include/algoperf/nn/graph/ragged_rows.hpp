// RaggedRows: where the rows of each example of a batch begin on a ragged axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../backend/concept.hpp"
#include "../../core/error.hpp"
#include "../../core/example_rows.hpp"

namespace algoperf {

namespace detail {

// Returns the smallest of the sizes k 2^e with 8 <= k <= 16 that is at least n, or n if that is below 8.
constexpr std::size_t row_bucket(std::size_t n) {
  std::size_t step = 1;
  while (16 * step <= n) step *= 2;
  return (n + step - 1) / step * step;
}

}  // namespace detail

template <class Backend>
class RaggedRows {
 public:
  // Stages n examples, of which example i has count(i) rows.
  template <class Count>
  void stage(const char* axis, std::size_t n, const Count& count) {
    staged_.assign(1, 0);
    std::size_t rows = 0;
    for (std::size_t i = 0; i < n; ++i) {
      rows += count(i);
      require(rows < UINT32_MAX, "data: a batch of ", n, " examples has 2^32 - 1 or more rows on the axis '", axis,
              "'");
      staged_.push_back(static_cast<std::uint32_t>(rows));
    }
  }
  // Appends padding examples with at least one row each, so that the number of all rows is a row_bucket(). If one of
  // them had more rows than the longest example, they have one row each instead.
  void pad(std::size_t examples) {
    const std::size_t rows = staged_.back();
    std::size_t longest = 0;
    for (std::size_t i = 1; i < staged_.size(); ++i)
      if (staged_[i] - staged_[i - 1] > longest) longest = staged_[i] - staged_[i - 1];
    std::size_t added = detail::row_bucket(rows + examples) - rows;
    if (added > examples * longest) added = examples;
    for (std::size_t i = 1; i <= examples; ++i)
      staged_.push_back(static_cast<std::uint32_t>(rows + added * i / examples));
  }
  ExampleRows staged() const { return {1, staged_.data()}; }
  void take_staged(RaggedRows& other) { std::swap(staged_, other.staged_); }
  // Makes the staged examples those of the batch.
  void use_staged() { begins_ = staged_; }

  // The rows of the batch's examples.
  ExampleRows rows() const { return {1, begins_.data()}; }
  // Returns the rows of n examples from `begin` on, counted from 0. Valid until the next call.
  AxisRows part(const Backend& backend, std::size_t begin, std::size_t n) {
    AxisRows part;
    part.first = begins_[begin];
    part.count = begins_[begin + n] - part.first;
    part_.resize(n + 1);
    for (std::size_t i = 0; i <= n; ++i) part_[i] = begins_[begin + i] - begins_[begin];
    part.rows = {1, part_.data()};
    for (std::size_t i = 0; i < n; ++i)
      if (part.rows.count(i) > part.longest) part.longest = part.rows.count(i);
    if constexpr (!Backend::on_host) {
      if (device_.size() < n + 1) device_ = backend.template array<std::uint32_t>(n + 1);
      detail::send(backend, n + 1, part_.data(), device_.data());
      part.rows.begins = device_.data();
    }
    return part;
  }

 private:
  std::vector<std::uint32_t> staged_ = {0}, begins_ = {0}, part_;
  typename Backend::template Array<std::uint32_t> device_ = {};
};

}  // namespace algoperf
