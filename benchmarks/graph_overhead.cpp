// Times the overhead of the graph of a model: a training step of a chain of many small ops, in which the ops themselves
// compute next to nothing. It must be linear in the number of ops, and at most 1 us per op.
#include <algoperf/algoperf.hpp>
#include <algorithm>
#include <cstdio>
#include <vector>

#include "paired.hpp"

namespace ap = algoperf;

namespace {

// `blocks` residual blocks of a dense layer of two units and a ReLU.
struct Chain {
  std::size_t blocks = 1;
  template <class Net>
  ap::Value operator()(Net& net) const {
    ap::Value x = net.field("input", {2});
    for (std::size_t i = 0; i < blocks; ++i) {
      const ap::Value y = net(ap::Relu{}, net({"dense", i}, ap::Dense{.units = 2}, x));
      x = net(ap::Sum{}, x, y);
    }
    return x;
  }
};

// Returns the microseconds per op of a forward and a backward pass on one example.
double step_per_op(std::size_t blocks) {
  using B = ap::Host<float>;
  const B backend;
  const ap::RecordedModel<B> model(ap::Objective<Chain, ap::SoftmaxCrossEntropy>{{blocks}, {}});
  ap::GraphExecutor<B> executor(backend, model, 1);
  std::vector<float> values(model.layout().size()), gradients(values.size()), input{1, -1}, weights{1};
  const std::vector<std::int32_t> label{1};
  ap::Initializer<float> set(model.layout(), values.data(), ap::RandomKey{1});
  model.initialize(set);
  executor.bind(model.field("input").value, input.data());
  executor.bind(model.field("label").value, label.data());
  ap::GraphPass<B> pass;
  pass.values = values.data();
  pass.gradients = gradients.data();
  pass.examples = 1;
  pass.weights = weights.data();
  double least = 1e9;
  for (int i = 0; i < 300; ++i) {
    const double start = bench::now(bench::Clock::thread);
    for (int k = 0; k < 10; ++k) {
      executor.forward(pass);
      executor.backward(pass);
    }
    least = std::min(least, (bench::now(bench::Clock::thread) - start) / 10);
  }
  return 1e6 * least / static_cast<double>(model.graph().ops.size());
}

}  // namespace

int main() {
  bench::Report report;
  const double few = step_per_op(10), some = step_per_op(100), many = step_per_op(1000);
  report.at_most("training step of 31 small ops, microseconds per op", 1, few);
  report.at_most("training step of 301 small ops, microseconds per op", 1, some);
  report.at_most("training step of 3001 small ops, microseconds per op", 1, many);
  report.at_most("3001 ops to 301, time per op", 1.5, many / some);
  return report.status();
}
