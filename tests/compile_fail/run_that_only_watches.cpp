// expect: algoperf: run(data, observers...) needs an observer that can stop it
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train(const InMemory<float>& data) {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
  loop.run(data, Evaluate(data, ErrorRate{}), ProgressBar{}, BestCheckpoint("best"), CsvLog("log"));
}
