// expect: algoperf: an observer needs at least one of begin(run)
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mistyped {
  int steps = 0;
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Mistyped{}, UntilStep{3});
}
