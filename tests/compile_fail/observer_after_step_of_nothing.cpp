// expect: algoperf: an observer's after_step must be `Control after_step(run, const StepReport&)`
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mistyped {
  template <class Run>
  void after_step(Run&, const StepReport&) {}
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Mistyped{}, UntilStep{3});
}
