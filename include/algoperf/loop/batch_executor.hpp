#pragma once

#include <cstddef>

#include "../nn/graph/graph_executor.hpp"
#include "batch.hpp"

namespace algoperf {

// A batch of examples and the memory for a model's passes over it. The model reads the field "input" and, if it has a
// loss, the field "label".
template <class Backend, class Input, class Label>
class BatchExecutor {
  GraphExecutor<Backend> executor_;  // first: it throws OutOfMemory for sizes that no memory holds

 public:
  Batch<Backend, Input, Label> batch;

  // A pass covers at most `at_once` of the batch's examples.
  BatchExecutor(const Backend& backend, const RecordedModel<Backend>& model, const BatchShape& shape,
                std::size_t capacity, std::size_t at_once, const ExecutorOptions& options = {})
      : executor_(backend, model, at_once, options),
        batch(backend, shape, capacity),
        input_(model.field("input").value) {
    if (!model.has_loss()) return;
    label_ = model.field("label").value;
    losses_ = model.losses();
  }

  std::size_t at_once() const { return executor_.capacity(); }
  // Returns the executor, which will read the examples from `begin` on, and write their losses to batch.losses(begin).
  GraphExecutor<Backend>& executor_from(std::size_t begin) {
    executor_.bind(input_, batch.inputs(begin));
    if (label_.index == no_index) return executor_;
    executor_.bind(label_, batch.labels(begin));
    executor_.bind(losses_, batch.losses(begin));
    return executor_;
  }

 private:
  Value input_, label_ = {}, losses_ = {};
};

}  // namespace algoperf
