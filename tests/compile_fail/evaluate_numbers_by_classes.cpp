// expect: algoperf: a metric needs write(backend, batch, classes, outputs, labels, scores) const
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void evaluate(const InMemoryRegression<float>& data) {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), MeanSquaredError{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
  loop.evaluate(data, ErrorRate{});
}
