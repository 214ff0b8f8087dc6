// expect: algoperf: the data must be a data set: InMemory<float>(inputs, labels, shape, classes)
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train(const std::vector<float>& data) {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
  loop.run(data, UntilStep{3});
}
