// expect: algoperf: an observer's after_step must be `Control after_step(run, const StepReport&)`, and const if
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Counter {
  int steps = 0;
  template <class Run>
  Control after_step(Run&, const StepReport&) {
    ++steps;
    return Control::go_on;
  }
};

const Counter counter;

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, counter, UntilStep{3});
}
