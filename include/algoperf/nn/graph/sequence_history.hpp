// SequenceHistory: the memory in which ops keep data from one step of decoding to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "op_call.hpp"
#include "op_order.hpp"

namespace algoperf {

// Memory for up to `rows` sequences of up to `steps` elements: for each row and step, as much as the traits of each op
// on the decoded axis ask for (OpTraits::kept_of_step and exact_of_step).
template <class B>
class SequenceHistory {
 public:
  SequenceHistory(const B& backend, const ModelGraph& graph, GraphIndex decoded_axis, std::size_t rows,
                  std::size_t steps);

  // Returns the number of elements that each sequence has.
  std::size_t length() const { return length_; }

  // Removes all sequences.
  void clear() { length_ = 0; }
  // Appends an element to n sequences: sequence r continues sequence parents[r] of the step before. The first step does
  // not read parents. Requires n <= rows and length() < steps.
  void append(const B& backend, std::size_t n, const std::uint32_t* parents);
  // Returns the step that append() began: one DecodingStep per op, in the order of ModelGraph::ops.
  const DecodingStep<B>* step() const { return of_ops_.data(); }

 private:
  std::size_t steps_, length_ = 0;
  std::vector<std::uint32_t> ancestors_, ancestors_before_;  // rows x steps
  typename B::template Array<std::uint32_t> on_device_ = {};
  std::vector<typename B::template Array<Stored<B>>> kept_;  // of each op, as in of_ops_
  std::vector<typename B::template Array<typename B::Scalar>> exact_;
  std::vector<DecodingStep<B>> of_ops_;
};

template <class B>
ALGOPERF_COLD SequenceHistory<B>::SequenceHistory(const B& backend, const ModelGraph& graph, GraphIndex decoded_axis,
                                                  std::size_t rows, std::size_t steps)
    : steps_(steps),
      ancestors_(element_count(rows, steps)),
      ancestors_before_(ancestors_.size()),
      kept_(graph.ops.size()),
      exact_(graph.ops.size()),
      of_ops_(graph.ops.size()) {
  const std::size_t elements = ancestors_.size();
  if constexpr (!B::on_host) on_device_ = backend.template array<std::uint32_t>(elements);
  for (std::size_t i = 0; i < of_ops_.size(); ++i) {
    if (!detail::lies_on(graph, graph.ops[i], decoded_axis)) continue;
    const OpTraits& traits = graph.ops[i].traits;
    of_ops_[i].sequences = {0, steps_, on_device_.data()};
    if (traits.kept_of_step > 0) {
      kept_[i] = backend.template array<Stored<B>>(element_count(traits.kept_of_step, elements));
      of_ops_[i].kept = kept_[i].data();
    }
    if (traits.exact_of_step > 0) {
      exact_[i] = backend.template array<typename B::Scalar>(element_count(traits.exact_of_step, elements));
      of_ops_[i].exact = exact_[i].data();
    }
  }
}

template <class B>
ALGOPERF_COLD void SequenceHistory<B>::append(const B& backend, std::size_t n, const std::uint32_t* parents) {
  if (length_ > 0) {
    std::swap(ancestors_, ancestors_before_);
    for (std::size_t r = 0; r < n; ++r) {
      const std::uint32_t* const before = ancestors_before_.data() + parents[r] * steps_;
      std::uint32_t* const now = ancestors_.data() + r * steps_;
      for (std::size_t t = 0; t + 1 < length_; ++t) now[t] = before[t];
      now[length_ - 1] = parents[r];
    }
    if constexpr (!B::on_host) detail::send(backend, n * steps_, ancestors_.data(), on_device_.data());
  }
  for (DecodingStep<B>& step : of_ops_) {
    step.sequences.place = length_;
    if constexpr (B::on_host) step.sequences.ancestors = ancestors_.data();
  }
  ++length_;
}

}  // namespace algoperf
