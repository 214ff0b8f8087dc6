// expect: algoperf: a metric needs two constants
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void evaluate(const InMemory<float>& data) {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
  loop.evaluate(data, [](float, int) { return 0.f; });
}
