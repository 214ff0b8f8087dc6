// expect: algoperf: an observer's after_evaluation must be
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mistyped {
  template <class Run>
  Control after_evaluation(Run&, const StepReport&) {
    return Control::go_on;
  }
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Mistyped{}, UntilStep{3});
}
