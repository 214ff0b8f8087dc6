// expect: algoperf: the schedule reacts to evaluations (Plateau), so run(data, observers...) needs an observer
#include <algoperf/algoperf.hpp>

using namespace algoperf;

void train(const InMemory<float>& data) {
  TrainingLoop loop(mlp(Shape{4}, {4}, 2), SoftmaxCrossEntropy{}, sgd(), Plateau{.peak = 0.1},
                    ShuffledEpochs{.batch = 2});
  loop.run(data, UntilStep{3});
}
