// expect: algoperf: an observer's ready must be `Control ready(run)`
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mistyped {
  template <class Run>
  void ready(Run&) {}
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Mistyped{}, UntilStep{3});
}
