// expect: algoperf: run(data, observers...) goes on until an observer stops it
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train(const InMemory<float>& data) {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 2});
  loop.run(data, Evaluate(data, ErrorRate{}), ProgressBar{}, BestCheckpoint("best"), CsvLog("log"));
}
