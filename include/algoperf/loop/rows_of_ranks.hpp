// RowsOfRanks: the sums of an evaluation that ranks share, for a metric that accumulates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../combine/group/ranks.hpp"
#include "evaluation_sums.hpp"

namespace algoperf::detail {

// In each round of an evaluation, each rank adds a batch of consecutive examples, the lower ranks the first ones.
// exchange() then gives the rows of all ranks to the metric of every rank, in the order of examples.
template <class Metric, class S, class Label>
class RowsOfRanks : public EvaluationSums<Metric> {
 public:
  explicit RowsOfRanks(const Metric& metric) {
    if constexpr (requires { metric.fields(); })
      for ([[maybe_unused]] const char* const name : metric.fields()) ++fields_;
    own_.fields.resize(fields_);
  }

  // Keeps the rows of a batch, with `labels` labels.
  void add(const Metric&, const EvaluatedRows<S, Label>& batch, std::size_t labels) {
    append(own_.outputs, batch.outputs, batch.rows * batch.width);
    append(own_.labels, batch.labels, labels);
    if (batch.weights != nullptr) append(own_.weights, batch.weights, batch.rows);
    for (std::size_t e = 0; e < batch.examples; ++e) {
      own_.output_rows.push_back(static_cast<std::uint32_t>(batch.output_rows.count(e)));
      own_.label_rows.push_back(static_cast<std::uint32_t>(batch.label_rows.count(e)));
    }
    for (std::size_t f = 0; f < fields_; ++f) append(own_.fields[f], batch.fields[f].data(), batch.fields[f].size());
    own_.width = batch.width;
  }
  // Adds the rows of all ranks to the state, and begins the next round. All ranks must call it.
  void exchange(const Ranks& ranks, const Metric& metric) {
    const auto widths = ranks.all_gather(own_.width);
    const auto outputs = of_ranks(ranks, own_.outputs), weights = of_ranks(ranks, own_.weights);
    const auto labels = of_ranks(ranks, own_.labels);
    const auto output_rows = of_ranks(ranks, own_.output_rows), label_rows = of_ranks(ranks, own_.label_rows);
    std::vector<std::vector<std::vector<S>>> fields;
    for (const std::vector<S>& field : own_.fields) fields.push_back(of_ranks(ranks, field));
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (output_rows[r].empty()) continue;  // a rank without examples
      const auto output_begins = begins_of(output_rows[r]), label_begins = begins_of(label_rows[r]);
      EvaluatedRows<S, Label> rows{output_begins.back(),
                                   widths[r],
                                   outputs[r].data(),
                                   labels[r].data(),
                                   weights[r].empty() ? nullptr : weights[r].data(),
                                   output_rows[r].size(),
                                   {.begins = output_begins.data()},
                                   {.begins = label_begins.data()}};
      for (const auto& field : fields) rows.fields.push_back(field[r]);
      metric.add(this->state, rows);
    }
    own_ = {};
    own_.fields.resize(fields_);
  }

 private:
  template <class T>
  static void append(std::vector<T>& to, const T* from, std::size_t n) {
    to.insert(to.end(), from, from + n);
  }
  // Returns the array of each rank.
  template <class T>
  static std::vector<std::vector<T>> of_ranks(const Ranks& ranks, const std::vector<T>& mine) {
    const std::vector<std::size_t> sizes = ranks.all_gather(mine.size());
    const std::vector<T> all = ranks.all_gather(mine, sizes);
    std::vector<std::vector<T>> found;
    const T* from = all.data();
    for (const std::size_t size : sizes) {
      found.emplace_back(from, from + size);
      from += size;
    }
    return found;
  }
  static std::vector<std::uint32_t> begins_of(const std::vector<std::uint32_t>& counts) {
    std::vector<std::uint32_t> begins{0};
    for (const std::uint32_t count : counts) begins.push_back(begins.back() + count);
    return begins;
  }

  // This rank's rows in a round.
  struct Own {
    std::vector<S> outputs, weights;
    std::vector<Label> labels;
    std::vector<std::uint32_t> output_rows, label_rows;  // of each example
    std::vector<std::vector<S>> fields;
    std::size_t width = 1;
  };

  Own own_;
  std::size_t fields_ = 0;  // that the metric reads
};

}  // namespace algoperf::detail
