// expect: algoperf: an observer's evaluate must be `EvaluationReport evaluate(run)`
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mistyped {
  bool evaluation_due(const StepReport&) { return true; }
  template <class Run>
  double evaluate(Run&) {
    return 1;
  }
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Mistyped{}, UntilStep{3});
}
