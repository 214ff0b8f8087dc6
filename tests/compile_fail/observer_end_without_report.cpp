// expect: algoperf: an observer's end must be `end(run, const RunReport&)`
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mistyped {
  template <class Run>
  void end(Run&) {}
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Mistyped{}, UntilStep{3});
}
