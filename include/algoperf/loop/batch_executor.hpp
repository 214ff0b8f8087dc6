#pragma once

#include <cstddef>

#include "../nn/graph/graph_executor.hpp"
#include "field_batch.hpp"

namespace algoperf {

// A batch of examples and the memory for a model's passes over it.
// Long members are defined outside of the class, so that algoperf::gemm can contain them (compiled.hpp).
template <class Backend>
class BatchExecutor {
  using Scalar = typename Backend::Scalar;
  GraphExecutor<Backend> executor_;  // first: it throws OutOfMemory for sizes that no memory holds

 public:
  FieldBatch<Backend> batch;

  // A pass covers at most `at_once` of the batch's examples.
  BatchExecutor(const Backend& backend, const RecordedModel<Backend>& model, std::size_t capacity, std::size_t at_once,
                const ExecutorOptions& options = {});
  ~BatchExecutor();

  std::size_t at_once() const { return at_once_; }
  // Returns which losses belong to each of the batch's examples.
  ExampleRows loss_rows() const { return batch.rows(losses_value_.axis); }
  // Returns the losses of example `begin` of the batch; later examples follow.
  Scalar* losses(std::size_t begin = 0) { return losses_.data() + loss_rows().begin(begin); }
  // Lets an executor read the fields of the batch's examples from `begin` on.
  void bind_fields(GraphExecutor<Backend>& executor, std::size_t begin) const {
    for (std::size_t i = 0; i < batch.fields(); ++i) executor.bind(batch.value(i), batch.data(i, begin));
  }
  // Returns the executor, which will read n examples from `begin` on, and write their losses to losses(begin).
  GraphExecutor<Backend>& executor_of(const Backend& backend, std::size_t begin, std::size_t n);

 private:
  const ModelGraph& graph_;
  std::size_t at_once_;
  Value losses_value_ = {};
  typename Backend::template Array<Scalar> losses_;
};

template <class Backend>
ALGOPERF_COLD BatchExecutor<Backend>::BatchExecutor(const Backend& backend, const RecordedModel<Backend>& model,
                                                    std::size_t capacity, std::size_t at_once,
                                                    const ExecutorOptions& options)
    : executor_(backend, model, at_once + FieldBatch<Backend>::padding_of(model.graph(), at_once), options),
      batch(backend, model.graph(), capacity),
      graph_(model.graph()),
      at_once_(at_once) {
  if (!model.has_loss()) return;
  losses_value_ = model.losses();
  const Axis& axis = graph_.axes[losses_value_.axis];
  if (axis.ragged) return;  // the memory grows when it is used
  capacity += FieldBatch<Backend>::padding_of(graph_, capacity);
  losses_ = backend.template array<Scalar>(element_count(axis.rows, capacity));
}

template <class Backend>
BatchExecutor<Backend>::~BatchExecutor() = default;

template <class Backend>
GraphExecutor<Backend>& BatchExecutor<Backend>::executor_of(const Backend& backend, std::size_t begin, std::size_t n) {
  bind_fields(executor_, begin);
  for (std::size_t i = 0; i < graph_.axes.size(); ++i)
    if (const auto axis = static_cast<GraphIndex>(i); graph_.axes[i].ragged)
      executor_.bind_rows(axis, batch.part(backend, axis, begin, n));
  if (losses_value_.index == no_index) return executor_;
  if (const std::size_t rows = loss_rows().begin(batch.padded_size()); rows > losses_.size()) {
    losses_ = {};
    losses_ = backend.template array<Scalar>(rows + rows / 4);
  }
  executor_.bind(losses_value_, losses(begin));
  return executor_;
}

}  // namespace algoperf
