// expect: algoperf: an observer's last_evaluation_due must be `bool last_evaluation_due(const StepReport&)`
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mistyped {
  bool last_evaluation_due() const { return true; }
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Mistyped{}, UntilStep{3});
}
