// expect: algoperf: run(data, observers...) needs an observer that can stop it
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data);
}
