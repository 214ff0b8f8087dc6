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

  std::size_t at_once() const { return executor_.capacity(); }
  std::size_t losses_per_example() const { return losses_per_example_; }
  // Returns the losses of example `begin` of the batch; later examples follow.
  Scalar* losses(std::size_t begin = 0) { return losses_.data() + begin * losses_per_example_; }
  // Returns the executor, which will read the examples from `begin` on, and write their losses to losses(begin).
  GraphExecutor<Backend>& executor_from(std::size_t begin);

 private:
  Value losses_value_ = {};
  std::size_t losses_per_example_ = 1;
  typename Backend::template Array<Scalar> losses_;
};

template <class Backend>
ALGOPERF_COLD BatchExecutor<Backend>::BatchExecutor(const Backend& backend, const RecordedModel<Backend>& model,
                                                    std::size_t capacity, std::size_t at_once,
                                                    const ExecutorOptions& options)
    : executor_(backend, model, at_once, options), batch(backend, model.graph(), capacity) {
  if (!model.has_loss()) return;
  losses_value_ = model.losses();
  losses_per_example_ = model.graph().axes[losses_value_.axis].rows;
  losses_ = backend.template array<Scalar>(element_count(losses_per_example_, capacity));
}

template <class Backend>
BatchExecutor<Backend>::~BatchExecutor() = default;

template <class Backend>
GraphExecutor<Backend>& BatchExecutor<Backend>::executor_from(std::size_t begin) {
  for (std::size_t i = 0; i < batch.fields(); ++i) executor_.bind(batch.value(i), batch.data(i, begin));
  if (losses_value_.index != no_index) executor_.bind(losses_value_, losses(begin));
  return executor_;
}

}  // namespace algoperf
