// expect: algoperf: run(data, observers...) goes on until an observer stops it
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Begins {
  template <class Run>
  void begin(Run&) {}
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Begins{});
}
