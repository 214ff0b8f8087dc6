// expect: algoperf: an observer's evaluation_due must be `bool evaluation_due(const StepReport&)`
#include <algoperf/algoperf.hpp>

using namespace algoperf;

struct Mistyped {
  bool evaluation_due(std::uint64_t step) { return step % 10 == 0; }
};

void train(const InMemory<float>& data) {
  TrainingLoop loop(linear_model(Shape{4}, 2), SoftmaxCrossEntropy{}, sgd(), Constant{0.1}, ShuffledEpochs{.batch = 8});
  loop.run(data, Mistyped{}, UntilStep{3});
}
