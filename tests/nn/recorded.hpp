// A recorded Model with a loss, to run in tests.
#pragma once

#include "algoperf/nn/graph/graph_executor.hpp"
#include "algoperf/nn/graph/objective.hpp"
#include "runner.hpp"

namespace nn_test {

template <class B, class Model, class Loss = ap::SoftmaxCrossEntropy>
struct Recorded {
  ap::GraphExecutor<B> executor;

  Recorded(const Model& model, const Loss& loss, std::size_t capacity, const B& backend = {})
      : executor(backend, ap::Objective<Model, Loss>{model, loss}, capacity) {}

  void bind(const void* input, const void* labels) {
    executor.bind(executor.field("input"), input);
    executor.bind(executor.field("label"), labels);
  }
  const ap::Value& outputs() const { return executor.graph().values[executor.graph().outputs[0]].value; }
  const ap::Value& losses() const { return executor.graph().values[executor.graph().values.size() - 1].value; }
};

}  // namespace nn_test
